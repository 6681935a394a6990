import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { storedLanguage } from '../api/contract/languages.ts';
import type { Pool } from '../engine/runtime/pool.ts';
import { longestGap, named, quantile, wordsAttributed, wordTimes } from './align.ts';
import { type Clip, clips, englishClips, foreignClips, turnsOf } from './clips.ts';
import { type ConversationOptions, conversation, joined } from './conversations.ts';
import { type Diarization, diarizationError, meanDiarization } from './der.ts';
import { interjectionsKept, type Kept } from './interjections.ts';
import { diarization, minutesPerHour, textOf, timed, transcript } from './measure.ts';
import { addErrors, countErrors, type Errors, englishWords, errorRate, NO_ERRORS, unitsOf } from './normalise.ts';
import { call, LINES, partyErrors, record } from './parties.ts';
import { type PeopleFound, peopleFound } from './people.ts';
import { seeded } from './random.ts';
import { delayed, level, NOISES, samplesOf, scaled, writeWav } from './sound.ts';

/** What was measured of it; all of it, unless parts were asked for. */
export type Accuracy = Partial<Measures>;

interface Measures {
  /** English clips one by one, with language `auto`. */
  clips: Rate;
  /** `gap`: most words in a row that were left out. */
  joined: Rate & { gap: number; minutesPerHour: number };
  languages: { language: string; rate: number; detected: string }[];
  /** All clips in other languages, each heard at several offsets; words, or characters where words are not written apart. */
  foreign: Rate;
  conversations: ReturnType<typeof meanDiarization> & { wordsAttributed: number; wordErrorRate: number };
  /** What was written of the same two parties over lines of several kinds: words lost, wrong, twice or given to the other party. */
  calls: { line: string; wrong: number; twice: number; parties: number }[];
  /** How many people were found where 1 to 20 speak. */
  people: PeopleFound[];
  /** Short words thrown in over another's speech and in pauses: what became of them. */
  interjections: Record<'over' | 'pauses', Kept>;
  realTurns: { file: string; error: number; speakers: number; trueSpeakers: number }[];
  /** Words written where nobody speaks, by kind of sound. */
  invented: Record<string, number>;
  /** The same English clips at -26 and at -60 dBFS. */
  quiet: { loud: Rate; quiet: Rate };
  /** Seconds between true and written edges of the first and last words of joined clips. */
  wordTimes: { p50: number; p90: number; compared: number; unheard: number; disordered: number };
}

export interface Rate {
  rate: number;
  errors: Errors;
}

export interface AccuracyOptions {
  /** Minutes of joined speech. */
  minutes: number;
  conversations: number;
  accurate: boolean;
  /** Folder of clips; default: bench/data. */
  data?: string;
  /** Default: all. */
  parts?: readonly Part[];
  log: (line: string) => void;
}

const LOUD = -26; // dBFS
const QUIET = -60; // dBFS

type Measure = (pool: Pool, folder: string, options: AccuracyOptions) => Promise<Accuracy>;

/** What can be measured by itself, in this order. */
const PARTS = {
  clips: async (pool, _, { data, accurate }) => ({ clips: await rateOf(pool, englishClips(data), accurate) }),
  joined: joinedRate,
  languages: languageRates,
  conversations: conversationRates,
  calls: async (pool, folder, { data }) => ({ calls: await callRates(pool, folder, data) }),
  people: async (pool, folder, { data }) => ({ people: await peopleFound(pool, folder, data) }),
  interjections: interjectionRates,
  turns: async (pool, _, { data }) => ({ realTurns: await realTurns(pool, data) }),
  noise: async (pool, folder) => ({ invented: await inventedWords(pool, folder) }),
  quiet: async (pool, folder, options) => ({ quiet: await quietRates(pool, folder, options) }),
} satisfies Record<string, Measure>;

export type Part = keyof typeof PARTS;

/** Word errors, diarization errors, invented words: everything that must not get worse when the engine gets faster. */
export async function measureAccuracy(pool: Pool, options: AccuracyOptions): Promise<Accuracy> {
  const folder = await mkdtemp(join(tmpdir(), 'longhand-bench-'));
  const found: Accuracy = {};
  try {
    for (const [part, measure] of Object.entries(PARTS)) {
      if (options.parts && !options.parts.includes(part as Part)) continue;
      options.log(part);
      Object.assign(found, await measure(pool, folder, options));
    }
    return found;
  } finally {
    await rm(folder, { recursive: true });
  }
}

const rated = (errors: Errors): Rate => ({ rate: errorRate(errors), errors });

/** Word error rate of clips, one by one. */
export async function rateOf(pool: Pool, list: readonly Clip[], accurate = false): Promise<Rate> {
  let errors = NO_ERRORS;
  for (const clip of list) {
    const found = await transcript(clip.path, pool, { diarize: false, accurate });
    errors = addErrors(errors, countErrors(englishWords(clip.transcript), englishWords(textOf(found))));
  }
  return rated(errors);
}

async function joinedRate(pool: Pool, folder: string, { minutes, accurate, data }: AccuracyOptions): Promise<Accuracy> {
  const made = await joined(minutes * 60, { data });
  const path = join(folder, 'joined.wav');
  await writeWav(path, made.samples);
  const { result, seconds } = await timed(() => transcript(path, pool, { language: 'en', diarize: false, accurate }));
  const [said, heard] = [made.said.map(({ transcript }) => transcript).join(' '), textOf(result)].map(englishWords) as [string[], string[]];
  const times = wordTimes(made, result.segments, result.durationSeconds);
  const { unheard, disordered } = times;
  return {
    joined: {
      ...rated(countErrors(said, heard)),
      gap: longestGap(said, heard),
      minutesPerHour: minutesPerHour(seconds, result.durationSeconds),
    },
    wordTimes: { p50: quantile(times.errors, 0.5), p90: quantile(times.errors, 0.9), compared: times.errors.length, unheard, disordered },
  };
}

/** Seconds of silence put before a clip: where its sounds fall on the frames moves the error rate of 30 clips by more than a point. */
const LATER = [0, 0.03, 0.07, 0.11];

async function languageRates(pool: Pool, folder: string, { accurate, data }: AccuracyOptions): Promise<Accuracy> {
  const all = new Map<string, { errors: Errors; right: number; count: number }>();
  for (const clip of foreignClips(data)) {
    const samples = await samplesOf(clip.path);
    const entry = all.get(clip.language) ?? { errors: NO_ERRORS, right: 0, count: 0 };
    for (const seconds of LATER) {
      const path = join(folder, 'later.wav');
      await writeWav(path, delayed(samples, seconds));
      const found = await transcript(path, pool, { diarize: false, accurate });
      entry.errors = addErrors(entry.errors, countErrors(unitsOf(clip.transcript, clip.language), unitsOf(textOf(found), clip.language)));
      entry.count++;
      if (storedLanguage(found.language ?? '') === storedLanguage(clip.language)) entry.right++;
    }
    all.set(clip.language, entry);
  }
  return {
    languages: [...all].map(([language, e]) => ({ language, rate: errorRate(e.errors), detected: `${e.right}/${e.count}` })),
    foreign: rated([...all.values()].map(({ errors }) => errors).reduce(addErrors, NO_ERRORS)),
  };
}

/** The conversation number `i` that bench measures with: 2 to 6 speakers, half of them with interruptions, some by telephone, some in noise. */
export function measured(i: number, data?: string): [seed: number, options: ConversationOptions] {
  const speakers = 2 + (i % 5);
  const seconds = 100 + 25 * speakers;
  return [100 + i, { speakers, seconds, overlaps: i % 2 ? 0.12 : 0, telephone: i % 3 === 1, noise: i % 4 === 3 ? 25 : null, data }];
}

async function conversationRates(pool: Pool, folder: string, { conversations, accurate, data }: AccuracyOptions): Promise<Accuracy> {
  const results: Diarization[] = [];
  let errors = NO_ERRORS;
  let [right, total] = [0, 0];
  for (let i = 0; i < conversations; i++) {
    const made = await conversation(...measured(i, data));
    const path = join(folder, 'conversation.wav');
    await writeWav(path, made.samples);
    const found = await transcript(path, pool, { language: 'en', accurate });
    results.push(diarizationError(made.turns, named((await diarization(path, pool)).result)));
    const said = englishWords(made.said.map((s) => s.transcript).join(' '));
    errors = addErrors(errors, countErrors(said, englishWords(textOf(found))));
    const attributed = wordsAttributed(made, found.segments);
    right += attributed.right;
    total += attributed.total;
  }
  const words = { wordsAttributed: right / Math.max(1, total), wordErrorRate: errorRate(errors) };
  return { conversations: { ...meanDiarization(results), ...words } };
}

const CALL = { seed: 1, seconds: 60 };

async function callRates(pool: Pool, folder: string, data?: string): Promise<Measures['calls']> {
  const made = await call(CALL.seed, CALL.seconds, data);
  const out: Measures['calls'] = [];
  for (const line of Object.keys(LINES)) {
    const { segments } = await transcript(await record(made, line, folder), pool, { language: 'en' });
    const { errors, twice, parties } = partyErrors(made.said, segments);
    out.push({ line, wrong: errorRate(errors), twice, parties });
  }
  return out;
}

async function interjectionRates(pool: Pool, folder: string, { data, log }: AccuracyOptions): Promise<Accuracy> {
  const interjections = await interjectionsKept(pool, folder, data);
  if (interjections) return { interjections };
  log(`left out: ${data} has no short.tsv with words to throw in; bench/data has`);
  return {};
}

async function realTurns(pool: Pool, data?: string): Promise<Measures['realTurns']> {
  const out: Measures['realTurns'] = [];
  for (const clip of clips(data).filter((c) => c.category === '3')) {
    const found = named((await diarization(clip.path, pool)).result);
    const { error, speakers, trueSpeakers } = diarizationError(turnsOf(clip.file, data), found);
    out.push({ file: clip.file, error, speakers, trueSpeakers });
  }
  return out;
}

async function inventedWords(pool: Pool, folder: string): Promise<Record<string, number>> {
  const out: Record<string, number> = {};
  for (const [name, make] of Object.entries(NOISES)) {
    const path = join(folder, 'noise.wav');
    await writeWav(path, make(60, seeded(3)));
    const found = await transcript(path, pool, { diarize: false });
    out[name] = found.segments.reduce((sum, segment) => sum + segment.words.length, 0);
  }
  return out;
}

/** The same clips at two levels: what is said softly must be heard as well. */
async function quietRates(pool: Pool, folder: string, { accurate, data }: AccuracyOptions): Promise<Measures['quiet']> {
  const at = async (decibels: number): Promise<Rate> => {
    const levelled: Clip[] = [];
    for (const [i, clip] of englishClips(data).entries()) {
      const samples = await samplesOf(clip.path);
      const path = join(folder, `level-${i}.wav`);
      await writeWav(path, scaled(samples, 10 ** (decibels / 20) / (level(samples) || 1)));
      levelled.push({ ...clip, path });
    }
    return rateOf(pool, levelled, accurate);
  };
  return { loud: await at(LOUD), quiet: await at(QUIET) };
}
