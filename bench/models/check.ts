import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { openPool, type Pool } from '../../engine/runtime/pool.ts';
import type { Word } from '../../engine/types.ts';
import type { ClipErrors, Measured } from '../../models/checks/self-check.ts';
import { processor } from '../../models/choosing/cpu.ts';
import { languagesOf, readDescriptor } from '../../models/descriptor.ts';
import { countErrors } from '../errors/align.ts';
import { unitsOf } from '../errors/normalise.ts';
import { seeded } from '../random.ts';
import { type Clip, englishClips, foreignClips } from '../recordings/clips.ts';
import { NOISES } from '../recordings/noises.ts';
import { writeWav } from '../recordings/sound.ts';
import { peakMemory, transcript } from '../speed/measure.ts';
import { speedOf, speedOnTalk, timedHere, writeTalk } from './speed.ts';

const ENGLISH = 14; // clips
const EACH = 2; // clips per other language
const SHORT = 20; // maximum length of a clip, seconds
/** Time limit of one measurement, seconds; the remaining clips are skipped. */
export const SECONDS = 170;
const NOISE = 10; // seconds
const TELLING = 5; // words of a clip whose confidence counts

export interface CheckOptions {
  /** Folder of the diarization models. */
  diarization: string;
  threads?: number;
  /** Time limit. Default: SECONDS. */
  seconds?: number;
  /** Also measure the speed with a longer recording. Default: true. */
  speed?: boolean;
}

/**
 * The self-check: the accuracy of a built model on clips in several languages and on noise, its speed with all threads in use, and its memory
 * use. The speed is that in a conversation, since clips are shorter than windows and take several times as long; in the clips, if these take
 * all the time.
 * @param scratch an empty folder for recordings
 */
export async function checkModel(folder: string, scratch: string, options: CheckOptions): Promise<Measured> {
  const { diarization, threads, seconds: limit = SECONDS, speed = true } = options;
  const talk = speed ? await writeTalk(scratch) : null;
  const before = process.memoryUsage.rss();
  const pool = await openPool({ models: { whisper: folder, diarization }, threads });
  const end = performance.now() + 1000 * limit;
  const known = languagesOf(readDescriptor(folder));
  const list = clipsFor(known);
  try {
    const { result: heard, ...timeOfClips } = await timedHere(() => hearAll(list, pool, end));
    const clips = heard.filter(({ clip }) => known.includes(clip.language));
    const sum = (of: (heard: Heard) => number) => heard.reduce((total, each) => total + of(each), 0);
    const sumOfWords = (of: (word: Word) => number) => sum(({ words }) => words.reduce((total, word) => total + of(word), 0));
    const confidences = clips.filter(({ words }) => words.length >= TELLING).map(({ words }) => meanProbability(words));
    const audio = sum(({ audioSeconds }) => audioSeconds);
    const invented = performance.now() < end ? await inventedWords(pool, scratch) : 0;
    const inClips = speedOf(audio, timeOfClips);
    const left = (end - performance.now()) / 1000;
    const fast = talk && (await speedOnTalk(pool, talk, left * inClips.rtfx));
    return {
      at: new Date().toISOString(),
      machine: `${processor()}, ${pool.threads} threads`,
      cores: availableParallelism(),
      rates: ratesOf(clips),
      clips: clips.map(({ errors }) => errors),
      invented,
      coverage: sumOfWords((word) => word.end - word.start) / Math.max(1, audio),
      ...(fast || inClips),
      threadBytes: Math.max(0, Math.round((peakMemory() * 2 ** 20 - before) / pool.threads)),
      confidence:
        sumOfWords(({ probability }) => probability) /
        Math.max(
          1,
          sum(({ words }) => words.length),
        ),
      ...(confidences.length && { leastConfidence: Math.min(...confidences) }),
    };
  } finally {
    await pool.close();
  }
}

/** A transcribed clip. */
interface Heard {
  clip: Clip;
  words: Word[];
  errors: ClipErrors;
  audioSeconds: number;
}

/**
 * Transcribes clips, as many at once as keep all threads busy. Clips not started at `end`, by `performance.now()`, are left out: the result
 * is the beginning of the list.
 */
async function hearAll(list: readonly Clip[], pool: Pool, end: number): Promise<Heard[]> {
  const heard: Heard[] = [];
  const waiting = [...list.entries()];
  const work = async () => {
    for (let next = waiting.shift(); next && performance.now() < end; next = waiting.shift()) {
      const [i, clip] = next;
      const { segments, durationSeconds } = await transcript(clip.path, pool, { diarize: false });
      const text = segments.map((segment) => segment.text).join(' ');
      const { reference, ...found } = countErrors(unitsOf(clip.transcript, clip.language), unitsOf(text, clip.language));
      const errors = { words: reference, errors: found.substituted + found.deleted + found.inserted };
      heard[i] = { clip, words: segments.flatMap((segment) => segment.words), errors, audioSeconds: durationSeconds };
    }
  };
  await Promise.all(Array.from({ length: pool.concurrency }, work));
  return heard;
}

/** Clips, words and errors of each language. */
function ratesOf(heard: readonly Heard[]): Measured['rates'] {
  const rates = new Map<string, Measured['rates'][number]>();
  for (const { clip, errors } of heard) {
    const rate = rates.get(clip.language) ?? { language: clip.language, clips: 0, words: 0, errors: 0 };
    rate.clips++;
    rate.words += errors.words;
    rate.errors += errors.errors;
    rates.set(clip.language, rate);
  }
  return [...rates.values()];
}

/** Number of words that the model hears in noises. */
async function inventedWords(pool: Pool, scratch: string): Promise<number> {
  const counts = Object.entries(NOISES).map(async ([name, make]) => {
    const path = join(scratch, `${name}.wav`);
    await writeWav(path, make(NOISE, seeded(3)));
    const { segments } = await transcript(path, pool, { diarize: false });
    return segments.reduce((sum, segment) => sum + segment.words.length, 0);
  });
  return (await Promise.all(counts)).reduce((sum, count) => sum + count, 0);
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
