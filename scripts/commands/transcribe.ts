import { type Command, InvalidArgumentError, Option } from 'commander';
import { isLanguage } from '../../api/contract/languages.ts';
import { LIMITS } from '../../api/contract/limits.ts';
import { loadSettings } from './environment.ts';
import { FORMATS, type Format } from './formats.ts';

export interface TranscribeOptions {
  language: string;
  speakers?: number;
  diarize: boolean;
  format: Format;
  json?: boolean;
  model?: string;
  words?: boolean;
  accurate?: boolean;
  outputDir?: string | true;
}

/** `transcribe`: recordings to transcripts without a server or a database. */
export function addTranscribe(program: Command): void {
  program
    .command('transcribe')
    .description('transcribe recordings here and now, without server or database')
    .argument('<file...>', 'recordings')
    .option('--language <code>', 'what is spoken, or auto', language, 'auto')
    .addOption(new Option('--speakers <count>', 'how many speak, where that is known').argParser(speakers))
    .option('--no-diarize', 'do not tell speakers apart')
    .addOption(new Option('--format <format>', 'of the transcript').choices(FORMATS).default('txt'))
    .option('--json', 'the same as --format json')
    .option('--model <name>', 'one that `models list` shows (LONGHAND_MODEL)')
    .option('--words', 'times of words, in json')
    .option('--accurate', 'beams: fewer errors, slower')
    .option('--output-dir [folder]', 'write files there instead of standard output; without a folder: beside each recording')
    .action(async (files: string[], options: TranscribeOptions) => {
      const settings = loadSettings({ LONGHAND_MODEL: options.model });
      const { transcribeFiles } = await import('./transcribing.ts');
      await transcribeFiles(files, { ...options, format: options.json ? 'json' : options.format }, settings);
    });
}

function language(text: string): string {
  const code = text.toLowerCase();
  if (code !== 'auto' && !isLanguage(code)) throw new InvalidArgumentError('It must be auto or a language code such as en or de.');
  return code;
}

function speakers(text: string): number {
  const count = Number(text);
  if (!Number.isInteger(count) || count < 1 || count > LIMITS.SPEAKERS)
    throw new InvalidArgumentError(`It must be 1 to ${LIMITS.SPEAKERS}.`);
  return count;
}
