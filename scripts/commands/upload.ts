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
    .description('send recordings to a running service; what fails for now is tried again without making a second copy')
    .argument('<file...>', 'recordings, or folders of them')
    .option('--url <address>', 'of the service', address, 'http://127.0.0.1:8080')
    .requiredOption('--key <key>', 'an API key that may upload')
    .option('--external-id <id>', 'your own id, for one file', ascii)
    .option('--metadata <json>', 'a JSON object of your own', object)
    .option('--author <author>', 'email:…, user:… or external:…:…', ascii)
    .option('--reports <slugs>', 'reports to write, up to 3, separated by commas')
    .option('--language <code>', 'what is spoken, or auto')
    .option('--parallel <files>', 'sent at once; then without progress bars', positive, 1)
    .option('--wait', 'wait for the transcripts and print them')
    .option('--json', 'print JSON, a line for each file')
    .action(async (files: string[], options: UploadOptions, command: Command) => {
      if (!ASCII.test(options.key)) command.error(`error: --key: ${WANTED}`); // without the key: it is a secret
      const { findRecordings, uploadFiles } = await import('./uploading.ts');
      const recordings = await findRecordings(files);
      if (options.externalId !== undefined && recordings.length > 1) command.error('error: --external-id is for one file');
      await uploadFiles(recordings, options);
    });
}

function address(text: string): string {
  if (!URL.canParse(text) || !/^https?:/i.test(text)) throw new InvalidArgumentError('It must be like http://127.0.0.1:8080.');
  return text;
}

const ASCII = /^[ -~]*$/; // what a header holds safely
const WANTED = 'It must be of ASCII letters, digits and marks, without a line break.';

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
