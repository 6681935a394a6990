import { type Command, InvalidArgumentError } from 'commander';
import { loadSettings } from './environment.ts';
import { address, positive } from './parsers.ts';
import { reason } from './sentence.ts';
import type { UploadOptions } from './uploading.ts';

/** `upload`: a client of a running service. */
export function addUpload(program: Command): void {
  program
    .command('upload')
    .description('upload files to a running service, each once: a ledger records what was uploaded')
    .argument('<file...>', 'audio or video files, or folders')
    .option('--url <address>', 'address of the service (LONGHAND_URL; else http://127.0.0.1:8080)', address)
    .option(
      '--key <key>',
      'API key with the permissions read and uploads:write; set LONGHAND_KEY instead to keep it out of the process list',
    )
    .option('--min-age <age>', 'skip files that changed within this time: 60, 60s, 1m', seconds)
    .option('--done-dir <folder>', 'move uploaded files to this folder')
    .option('--ledger <file>', 'ledger of uploaded files; default: ~/.local/state/longhand/uploads.jsonl ($XDG_STATE_HOME)')
    .option('--again', 'upload files again that were uploaded before; they are transcribed and charged again')
    .option('--external-id <id>', 'your own id; for a single file', ascii)
    .option('--metadata <json>', 'your own data, a JSON object', object)
    .option('--author <author>', 'author: email:…, user:… or external:…:…', ascii)
    .option('--reports <slugs>', 'up to 3 reports, comma-separated')
    .option('--language <code>', 'language code, or auto to detect it')
    .option('--parallel <files>', 'number of parallel uploads; more than 1 hides progress bars', positive, 1)
    .option('--wait', 'wait for the transcripts and print them')
    .option('--json', 'print a JSON line per file')
    .action(async (files: string[], given: Partial<UploadOptions> & Pick<UploadOptions, 'parallel'>, command: Command) => {
      const settings = given.key && given.url ? null : loadSettings();
      const key = given.key ?? settings?.LONGHAND_KEY;
      if (!key) command.error('error: there is no API key: set LONGHAND_KEY, or give --key');
      if (!ASCII.test(key)) command.error(`error: --key: ${WANTED}`); // without the key: it is a secret
      const options: UploadOptions = { ...given, key, url: given.url ?? settings?.LONGHAND_URL ?? 'http://127.0.0.1:8080' };
      const [{ findRecordings }, { uploadFiles }] = await Promise.all([import('./recordings.ts'), import('./uploading.ts')]);
      const onUnreadable = (folder: string, error: Error) => {
        process.stderr.write(`Skipped ${folder}: ${reason(error)}; let this account read it, or name the other folders\n`);
        process.exitCode = 1; // there may be recordings in it
      };
      const recordings = await findRecordings(files, { ...options, onUnreadable });
      if (options.externalId !== undefined && recordings.length > 1) command.error('error: --external-id is for one file');
      await uploadFiles(recordings, options);
    });
}

const UNITS: Record<string, number> = { '': 1, s: 1, m: 60, h: 3600 };

function seconds(text: string): number {
  const [, count, unit] = /^(\d{1,7})([smh]?)$/.exec(text) ?? [];
  if (count === undefined) throw new InvalidArgumentError('It must be like 60, 60s, 1m or 2h.');
  return Number(count) * UNITS[unit!]!;
}

const ASCII = /^[ -~]*$/; // characters that are safe in a header
const WANTED = 'It must consist of printable ASCII characters.';

function ascii(text: string): string {
  if (!ASCII.test(text)) throw new InvalidArgumentError(WANTED);
  return text;
}

function object(text: string): string {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {}
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw new InvalidArgumentError('It must be a JSON object.');
  return text;
}
