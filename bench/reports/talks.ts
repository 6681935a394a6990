import { readdirSync, readFileSync } from 'node:fs';
import type { ReportTranscript } from '../../engine/reports/writer.ts';

const FOLDER = new URL('../../test/engine/reports/fixtures/', import.meta.url);

export const SECONDS_PER_WORD = 0.4;

/** Names of the sample conversations in seven languages for reports; a name begins with the language. */
export const TALKS: readonly string[] = readdirSync(FOLDER)
  .filter((file) => file.endsWith('.txt'))
  .map((file) => file.slice(0, -4));

export function talk(name: string): ReportTranscript {
  return transcript(name.slice(0, 2), readFileSync(new URL(`${name}.txt`, FOLDER), 'utf8'));
}

/** Parses a transcript from lines such as `[mm:ss] Speaker: text`. */
export function transcript(language: string | null, lines: string): ReportTranscript {
  const segments = [...lines.matchAll(/^\[(\d+):(\d+)\] ([^:]+): (.+)$/gm)].map(([, minutes, seconds, speaker, text], index) => {
    const start = Number(minutes) * 60 + Number(seconds);
    return { id: index + 1, start, end: start + text!.split(' ').length * SECONDS_PER_WORD, speaker: speaker!, text: text! };
  });
  return { language, durationSeconds: segments.at(-1)?.end ?? 0, segments };
}
