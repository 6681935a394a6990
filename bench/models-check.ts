import { mkdtemp, rm } from 'node:fs/promises';
import { cpus, tmpdir } from 'node:os';
import { join } from 'node:path';
import { openPool } from '../engine/runtime/pool.ts';
import { languagesOf, readDescriptor } from '../models/descriptor.ts';
import type { ClipErrors, Measured } from '../models/self-check.ts';
import { countErrors } from './align.ts';
import { type Clip, englishClips, foreignClips } from './clips.ts';
import { peakMemory, timed, transcript } from './measure.ts';
import { NOISES } from './noises.ts';
import { addErrors, NO_ERRORS, unitsOf } from './normalise.ts';
import { seeded } from './random.ts';
import { writeWav } from './sound.ts';

const ENGLISH = 14; // clips
const EACH = 2; // clips per other language
const SHORT = 20; // maximum length of a clip, seconds
/** Time limit of one measurement, seconds; the remaining clips are skipped. */
export const SECONDS = 170;
const NOISE = 10; // seconds
const TELLING = 5; // words of a clip whose confidence counts

interface CheckOptions {
  diarization: string;
  threads?: number;
  onProgress?: (fraction: number) => void;
}

/** The self-check: the accuracy of a built model on clips in several languages and on noise, its speed, and its memory use. */
export async function checkModel(folder: string, { diarization, threads, onProgress }: CheckOptions): Promise<Measured> {
  const before = process.memoryUsage.rss();
  const pool = await openPool({ models: { whisper: folder, diarization }, threads });
  const scratch = await mkdtemp(join(tmpdir(), 'longhand-check-'));
  const end = performance.now() + 1000 * SECONDS;
  const known = languagesOf(readDescriptor(folder));
  const list = clipsFor(known);
  const rates = new Map<string, { language: string; clips: number; words: number; errors: number }>();
  const clips: ClipErrors[] = [];
  const confidences: number[] = [];
  const sums = { audio: 0, seconds: 0, covered: 0, speech: 0, probability: 0, words: 0, invented: 0 };
  try {
    for (const [i, clip] of list.entries()) {
      if (performance.now() > end) break;
      const { result, seconds } = await timed(() => transcript(clip.path, pool, { diarize: false }));
      const words = result.segments.flatMap((segment) => segment.words);
      const text = result.segments.map((segment) => segment.text).join(' ');
      const found = addErrors(NO_ERRORS, countErrors(unitsOf(clip.transcript, clip.language), unitsOf(text, clip.language)));
      const rate = rates.get(clip.language) ?? { language: clip.language, clips: 0, words: 0, errors: 0 };
      rate.clips++;
      rate.words += found.reference;
      rate.errors += found.substituted + found.deleted + found.inserted;
      if (known.includes(clip.language)) {
        rates.set(clip.language, rate);
        clips.push({ words: found.reference, errors: found.substituted + found.deleted + found.inserted });
      }
      sums.audio += result.durationSeconds;
      sums.seconds += seconds;
      sums.speech += result.durationSeconds;
      sums.covered += words.reduce((sum, word) => sum + word.end - word.start, 0);
      sums.probability += words.reduce((sum, word) => sum + word.probability, 0);
      sums.words += words.length;
      if (known.includes(clip.language) && words.length >= TELLING) confidences.push(meanProbability(words));
      onProgress?.((i + 1) / (list.length + 1));
    }
    for (const make of Object.values(NOISES)) {
      if (performance.now() > end) break;
      const path = join(scratch, 'noise.wav');
      await writeWav(path, make(NOISE, seeded(3)));
      const { segments } = await transcript(path, pool, { diarize: false });
      sums.invented += segments.reduce((sum, segment) => sum + segment.words.length, 0);
    }
    return {
      at: new Date().toISOString(),
      machine: `${cpus()[0]?.model.trim() ?? 'unknown processor'}, ${pool.threads} threads`,
      rates: [...rates.values()],
      clips,
      invented: sums.invented,
      coverage: sums.covered / Math.max(1, sums.speech),
      rtfx: sums.audio / Math.max(0.001, sums.seconds),
      threadBytes: Math.max(0, Math.round((peakMemory() * 2 ** 20 - before) / pool.threads)),
      confidence: sums.probability / Math.max(1, sums.words),
      ...(confidences.length && { leastConfidence: Math.min(...confidences) }),
    };
  } finally {
    await rm(scratch, { recursive: true });
    await pool.close();
  }
}

function meanProbability(words: readonly { probability: number }[]): number {
  return words.reduce((sum, { probability }) => sum + probability, 0) / words.length;
}

/**
 * Clips in the languages of a model, every language early on, because a slow machine may not reach the end. A model of few languages is
 * checked on more clips of each.
 */
function clipsFor(languages: readonly string[]): Clip[] {
  const short = (clips: Clip[]) => clips.filter(({ seconds }) => seconds <= SHORT);
  const english = languages.includes('en') ? short(englishClips()).filter((_, i) => i % 3 === 0) : [];
  const foreign = languages.filter((code) => code !== 'en');
  const each = Math.max(EACH, Math.floor(ENGLISH / Math.max(1, foreign.length)));
  const others = foreign.map((code) => short(foreignClips()).filter(({ language }) => language === code));
  const first = others.flatMap((clips) => clips.slice(0, 1));
  const more = others.flatMap((clips) => clips.slice(1, each));
  const chosen = [...english.slice(0, ENGLISH / 2), ...first, ...english.slice(ENGLISH / 2, ENGLISH), ...more];
  return chosen.length ? chosen : short(englishClips()).slice(0, ENGLISH / 2); // only for confidence and speed
}
