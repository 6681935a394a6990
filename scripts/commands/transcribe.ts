import { type Command, InvalidArgumentError, Option } from 'commander';
import { isLanguage } from '../../api/contract/languages.ts';
import { LIMITS } from '../../api/contract/limits.ts';
import { loadSettings } from './environment.ts';
import { FORMATS } from './formats.ts';
import type { TranscribeOptions } from './transcribing.ts';

/** `transcribe`: files to transcripts, without a server or a database. */
export function addTranscribe(program: Command): void {
  program
    .command('transcribe')
    .description('transcribe files locally, without a server')
    .argument('<file...>', 'audio or video files')
    .option('--language <code>', 'language code, or auto to detect it', language, 'auto')
    .addOption(new Option('--speakers <count>', 'number of speakers, if known').argParser(speakers))
    .option('--no-diarize', 'disable speaker diarization')
    .addOption(new Option('--format <format>', 'output format').choices(FORMATS).default('txt'))
    .option('--json', 'same as --format json')
    .option('--model <name>', 'a model listed by `models list`, for all languages (instead of LONGHAND_MODEL and LONGHAND_MODELS)')
    .option('--words', 'include word timestamps, in json')
    .option('--accurate', 'beam search: fewer errors, slower')
    .option('--output-dir [folder]', 'folder for the output files; without a value, next to each recording')
    .action(async (files: string[], options: TranscribeOptions) => {
      const settings = loadSettings({ LONGHAND_MODEL: options.model, LONGHAND_MODELS: options.model && '' });
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
