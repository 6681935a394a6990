import { readFileSync } from 'node:fs';
import { type Command, Option } from 'commander';
import { builtin } from '../../../api/contract/catalogue.ts';
import type { ReportTranscript } from '../../../engine/reports/report.ts';
import { loadSettings } from '../environment.ts';
import { print } from '../output.ts';

interface Options {
  name?: string;
  slug?: string;
  prompt?: string;
  promptFile?: string;
  json?: boolean;
}

/**
 * `admin template preview`: prints a report on one transcript, by the configured language model or the extractive writer. Needs no
 * database, stores nothing.
 */
export function addPreview(group: Command): void {
  group
    .command('preview')
    .description('print a report on a transcript in JSON (`transcribe --format json`, or an export) without storing it')
    .argument('<file>', 'the transcript')
    .addOption(new Option('--prompt <text>', 'instructions for the report').conflicts(['promptFile', 'slug']))
    .addOption(new Option('--prompt-file <file>', 'file with the instructions').conflicts('slug'))
    .option('--slug <slug>', 'use a built-in template')
    .option('--name <name>', 'template name')
    .option('--json', 'print JSON')
    .action(async (file: string, options: Options, command: Command) => {
      const { slug, promptFile, name } = options;
      const prompt = promptFile === undefined ? (options.prompt ?? null) : readFileSync(promptFile, 'utf8');
      if (prompt === null && (slug === undefined || builtin(slug) === undefined))
        command.error('error: give --prompt, --prompt-file or the --slug of a built-in template');
      const { LLM_BASE_URL: baseUrl, LLM_MODEL: model, LLM_API_KEY: apiKey, LLM_CONTEXT: contextTokens } = loadSettings();
      const { openWriter } = await import('../../../engine/reports/writer.ts');
      const writer = openWriter({ baseUrl, model, apiKey, contextTokens });
      const request = { slug: slug ?? 'preview', name: name ?? builtin(slug ?? '')?.name ?? 'Preview', prompt };
      const report = await writer.write(request, transcriptIn(file), new AbortController().signal);
      if (options.json) print({ writer: writer.name, ...report }, true);
      else process.stdout.write(`${report.text}\n`);
    });
}

function transcriptIn(file: string): ReportTranscript {
  const record = parsed(readFileSync(file, 'utf8'));
  if (!Array.isArray(record?.segments))
    throw new Error(
      `Cannot preview: ${file} is not JSON with segments; pass a transcription in the format of \`longhand transcribe --format json\``,
    );
  const names = new Map<string, string>((record.speakers ?? []).map((speaker: { id: string; name: string }) => [speaker.id, speaker.name]));
  const segments = record.segments.map(
    (segment: { id: number; start: number; end: number; speaker_id: string | null; speaker_name: string | null; text: string }) => ({
      ...{ id: segment.id, start: segment.start, end: segment.end, text: segment.text },
      speaker: segment.speaker_name ?? names.get(segment.speaker_id ?? '') ?? 'Speaker 1',
    }),
  );
  return { language: record.language ?? null, durationSeconds: record.duration_seconds ?? segments.at(-1)?.end ?? 0, segments };
}

/** Null: not JSON. */
function parsed(text: string) {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}
