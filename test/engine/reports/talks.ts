import { readFileSync } from 'node:fs';
import type { ReportTranscript } from '../../../engine/reports/writer.ts';

const SECONDS_PER_WORD = 0.4;

/** The transcript of `fixtures/<name>.txt`, whose lines look like `[mm:ss] Speaker: text`; the language is the name's first part. */
export function talk(name: string): ReportTranscript {
  return transcript(name.slice(0, 2), readFileSync(new URL(`fixtures/${name}.txt`, import.meta.url), 'utf8'));
}

/** A transcript from lines such as `[mm:ss] Speaker: text`. */
export function transcript(language: string | null, lines: string): ReportTranscript {
  const segments = [...lines.matchAll(/^\[(\d+):(\d+)\] ([^:]+): (.+)$/gm)].map(([, minutes, seconds, speaker, text], index) => {
    const start = Number(minutes) * 60 + Number(seconds);
    return { id: index + 1, start, end: start + text!.split(' ').length * SECONDS_PER_WORD, speaker: speaker!, text: text! };
  });
  return { language, durationSeconds: segments.at(-1)?.end ?? 0, segments };
}
