import { type Command, InvalidArgumentError } from 'commander';
import { positive } from './numbers.ts';

export interface UploadOptions {
  url: string;
  key: string;
  externalId?: string;
  metadata?: string;
  author?: string;
  reports?: string;
  language?: string;
  parallel: number;
  wait?: boolean;
  json?: boolean;
}

/** `upload`: a client of a running service. */
export function addUpload(program: Command): void {
  program
    .command('upload')
    .description('upload files to a running service; retries never create a second copy')
    .argument('<file...>', 'audio or video files, or folders')
    .option('--url <address>', 'URL of the service', address, 'http://127.0.0.1:8080')
    .requiredOption('--key <key>', 'API key with the scope uploads:write')
    .option('--external-id <id>', 'your own id; for a single file', ascii)
    .option('--metadata <json>', 'your own data, a JSON object', object)
    .option('--author <author>', 'author: email:…, user:… or external:…:…', ascii)
    .option('--reports <slugs>', 'up to 3 reports, comma-separated')
    .option('--language <code>', 'language code, or auto to detect it')
    .option('--parallel <files>', 'files uploaded at once; more than 1 hides progress bars', positive, 1)
    .option('--wait', 'wait for the transcripts and print them')
    .option('--json', 'print a JSON line per file')
    .action(async (files: string[], options: UploadOptions, command: Command) => {
      if (!ASCII.test(options.key)) command.error(`error: --key: ${WANTED}`); // without the key, because it is secret
      const { findRecordings, uploadFiles } = await import('./uploading.ts');
      const recordings = await findRecordings(files);
      if (options.externalId !== undefined && recordings.length > 1) command.error('error: --external-id is for one file');
      await uploadFiles(recordings, options);
    });
}

function address(text: string): string {
  if (!URL.canParse(text) || !/^https?:/i.test(text)) throw new InvalidArgumentError('It must be a URL such as http://127.0.0.1:8080.');
  return text;
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
