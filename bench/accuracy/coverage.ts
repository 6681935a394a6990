import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { findSpeech } from '../../engine/asr/speech.ts';
import { decode } from '../../engine/audio/decode.ts';
import { FIRST_FRAME_SECONDS, FRAME_SECONDS } from '../../engine/diarization/pyannote.ts';
import { observe, speechProbability } from '../../engine/diarization/segmentation.ts';
import type { Pool } from '../../engine/runtime/pool.ts';
import type { Span, Word } from '../../engine/types.ts';
import { SAMPLE_RATE, samplesOf } from '../recordings/sound.ts';
import { scratchFolder } from '../scratch.ts';
import { minutesPerHour, timed, transcript } from '../speed/measure.ts';

const TEXTS = fileURLToPath(new URL('../data/declaration.tsv', import.meta.url));
const JOIN = 0.3; // seconds: shorter gaps between words are due to inaccurate timestamps
const PAUSE_SECONDS = 0.2; // of silence within detected speech, from which it is a pause: synthetic clauses are 0.3 to 0.5 s apart
const SILENT = 1e-3; // peak, full scale = 1

/** Coverage of one language: how much of the speech has words. */
export interface LanguageCoverage {
  language: string;
  /** The language of the transcript. */
  detected: string | null;
  /** Seconds of detected speech without pauses, and the share of it covered by words, 0 to 1. */
  seconds: number;
  covered: number;
  /** Longest span of speech between two words, seconds. */
  longestGap: number;
  minutesPerHour: number;
}

/** A text to synthesise, and the espeak-ng voice for it. */
export interface Reading {
  language: string;
  voice: string;
  text: string;
}

/** The first articles of the Universal Declaration of Human Rights, about a minute of speech per language. */
export function readings(languages?: readonly string[]): Reading[] {
  const [, ...lines] = readFileSync(TEXTS, 'utf8').trim().split('\n');
  const all = lines.map((line) => {
    const [language, voice, text] = line.split('\t');
    return { language: language!, voice: voice!, text: text! };
  });
  const unknown = languages?.find((code) => !all.some(({ language }) => language === code));
  if (unknown) throw new Error(`Cannot measure '${unknown}': there are texts in ${all.map(({ language }) => language).join(', ')}`);
  return languages ? all.filter(({ language }) => languages.includes(language)) : all;
}

/**
 * Transcribes a minute of synthetic speech per language, with language detection, and reports how much of it is covered by words. Needs no
 * reference transcript, so it works for any language. Requires espeak-ng on the PATH.
 */
export async function measureCoverage(
  pool: Pool,
  { languages, accurate, log }: { languages?: readonly string[]; accurate: boolean; log: (line: string) => void },
): Promise<LanguageCoverage[]> {
  const folder = scratchFolder('coverage');
  const found: LanguageCoverage[] = [];
  try {
    for (const reading of readings(languages)) {
      log(reading.language);
      const path = await spoken(reading, folder);
      const speech = withoutPauses(await detectedSpeech(path, pool), await samplesOf(path));
      const { result, seconds } = await timed(() => transcript(path, pool, { diarize: false, accurate }));
      const words = result.segments.flatMap(({ words }) => words);
      const time = minutesPerHour(seconds, result.durationSeconds);
      found.push({ language: reading.language, detected: result.language, ...coverageOf(words, speech), minutesPerHour: time });
    }
    return found;
  } finally {
    await rm(folder, { recursive: true });
  }
}

/** Share of speech covered by words, and the longest span without any. */
export function coverageOf(
  words: readonly Pick<Word, 'start' | 'end'>[],
  speech: readonly Span[],
): Pick<LanguageCoverage, 'seconds' | 'covered' | 'longestGap'> {
  const within = ({ start, end }: Span) =>
    speech.reduce((sum, span) => sum + Math.max(0, Math.min(span.end, end) - Math.max(span.start, start)), 0);
  const seconds = within({ start: 0, end: Number.POSITIVE_INFINITY });
  let [longestGap, missing, end] = [0, 0, 0];
  for (const word of [...words, { start: Number.POSITIVE_INFINITY, end: Number.POSITIVE_INFINITY }]) {
    const gap = word.start - end > JOIN ? within({ start: end, end: word.start }) : 0;
    longestGap = Math.max(longestGap, gap);
    missing += gap;
    end = Math.max(end, word.end);
  }
  return { seconds, covered: seconds === 0 ? 1 : 1 - missing / seconds, longestGap };
}

/** Speech without the silence that detection includes: between synthetic clauses there is no sound at all. */
export function withoutPauses(speech: readonly Span[], samples: Float32Array): Span[] {
  return speech.flatMap(({ start, end }) => {
    const spans: Span[] = [];
    const [first, last] = [Math.round(start * SAMPLE_RATE), Math.min(samples.length, Math.round(end * SAMPLE_RATE))];
    let [from, sounded] = [first, first];
    for (let i = first; i <= last; i++) {
      if (i < last && Math.abs(samples[i]!) < SILENT) continue;
      if (i - sounded >= PAUSE_SECONDS * SAMPLE_RATE) {
        if (sounded > from) spans.push({ start: from / SAMPLE_RATE, end: sounded / SAMPLE_RATE });
        from = i;
      }
      sounded = i + 1;
    }
    return last > from ? [...spans, { start: from / SAMPLE_RATE, end: last / SAMPLE_RATE }] : spans;
  });
}

async function detectedSpeech(path: string, pool: Pool): Promise<Span[]> {
  const { signal } = new AbortController();
  const recording = await decode(path, { signal });
  try {
    await recording.decoded;
    const { segment } = pool.job(signal);
    const activity = await observe(recording, 'mix', segment, { signal, concurrency: pool.threads * 2, coarse: true });
    return findSpeech(speechProbability(activity), FRAME_SECONDS, FIRST_FRAME_SECONDS).spans;
  } finally {
    await recording.close();
  }
}

/** Synthesises a text with espeak-ng to a wav file. */
async function spoken({ language, voice, text }: Reading, folder: string): Promise<string> {
  const [from, to] = [join(folder, `${language}.txt`), join(folder, `${language}.wav`)];
  await writeFile(from, text);
  try {
    await promisify(execFile)('espeak-ng', ['-v', voice, '-f', from, '-w', to]);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
    throw new Error('Cannot measure coverage: espeak-ng is not installed (Debian and Ubuntu: apt-get install espeak-ng)');
  }
  return to;
}

/** A line per language, and one for the worst. */
export function* coverageRows(found: readonly LanguageCoverage[]): Generator<[name: string, value: string]> {
  const share = (part: number) => `${(100 * part).toFixed(1)} %`;
  for (const { language, detected, seconds, covered, longestGap, minutesPerHour } of found) {
    const heard = detected === language ? '' : `, heard as ${detected ?? 'nothing'}`;
    yield [
      `speech covered by words, ${language}`,
      `${share(covered)} of ${seconds.toFixed(1)} s, longest gap ${longestGap.toFixed(1)} s, ${minutesPerHour.toFixed(2)} min/h${heard}`,
    ];
  }
  if (found.length)
    yield [
      `the worst of ${found.length} languages`,
      `${share(Math.min(...found.map(({ covered }) => covered)))}, longest gap ${Math.max(...found.map(({ longestGap }) => longestGap)).toFixed(1)} s`,
    ];
}
