import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { storedLanguage } from '../api/contract/languages.ts';
import type { Pool } from '../engine/pool.ts';
import type { Transcript } from '../engine/types.ts';
import { type Clip, clips, englishClips, foreignClips, turnsOf } from './clips.ts';
import { type Conversation, conversation, joined } from './conversations.ts';
import { bestMapping, type Diarization, diarizationError, meanDiarization } from './der.ts';
import { diarization, minutesPerHour, textOf, timed, transcript } from './measure.ts';
import { addErrors, countErrors, type Errors, englishWords, errorRate, NO_ERRORS, unitsOf } from './normalise.ts';
import { seeded } from './random.ts';
import { NOISES, writeWav } from './sound.ts';

export interface Accuracy {
  /** English clips one by one, with language `auto`. */
  clips: Rate;
  joined: Rate & { minutesPerHour: number };
  languages: { language: string; rate: number; detected: string }[];
  conversations: ReturnType<typeof meanDiarization> & { wordsAttributed: number; wordErrorRate: number };
  realTurns: { file: string; error: number; speakers: number; trueSpeakers: number }[];
  /** Words written where nobody speaks, by kind of sound. */
  invented: Record<string, number>;
  /** Seconds between true and written edges of words at the edges of joined clips. */
  wordTimes: { p50: number; p90: number };
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
  log: (line: string) => void;
}

/** Word errors, diarization errors, invented words: everything that must not get worse when the engine gets faster. */
export async function measureAccuracy(pool: Pool, options: AccuracyOptions): Promise<Accuracy> {
  const folder = await mkdtemp(join(tmpdir(), 'longhand-bench-'));
  try {
    const { accurate, log } = options;
    log('English clips');
    const english = await rateOf(pool, englishClips(), accurate);
    log(`${options.minutes} minutes of joined speech`);
    const long = await joinedRate(pool, folder, options);
    log('other languages');
    const languages = await languageRates(pool, accurate);
    log('conversations');
    const talks = await conversationRates(pool, folder, options);
    log('silence, noise and music');
    return {
      clips: english,
      joined: long.rate,
      languages,
      conversations: talks,
      realTurns: await realTurns(pool),
      invented: await inventedWords(pool, folder),
      wordTimes: long.wordTimes,
    };
  } finally {
    await rm(folder, { recursive: true });
  }
}

async function rateOf(pool: Pool, list: Clip[], accurate: boolean): Promise<Rate> {
  let errors = NO_ERRORS;
  for (const clip of list) {
    const found = await transcript(clip.path, pool, { diarize: false, accurate });
    errors = addErrors(errors, countErrors(englishWords(clip.transcript), englishWords(textOf(found))));
  }
  return { rate: errorRate(errors), errors };
}

async function joinedRate(pool: Pool, folder: string, { minutes, accurate }: AccuracyOptions) {
  const made = await joined(minutes * 60);
  const path = join(folder, 'joined.wav');
  await writeWav(path, made.samples);
  const { result, seconds } = await timed(() => transcript(path, pool, { language: 'en', diarize: false, accurate }));
  const errors = countErrors(englishWords(made.said.map((s) => s.transcript).join(' ')), englishWords(textOf(result)));
  return {
    rate: { rate: errorRate(errors), errors, minutesPerHour: minutesPerHour(seconds, result.durationSeconds) },
    wordTimes: edgeErrors(made, result),
  };
}

/** Distance from each clip's true beginning and end to the nearest beginning and end of a word. */
function edgeErrors(made: Conversation, found: Transcript): { p50: number; p90: number } {
  const words = found.segments.flatMap((segment) => segment.words);
  const nearest = (time: number, edge: (word: { start: number; end: number }) => number) =>
    words.reduce((least, word) => Math.min(least, Math.abs(edge(word) - time)), Number.POSITIVE_INFINITY);
  const errors = made.said.flatMap(({ start, end }) => [nearest(start, (w) => w.start), nearest(end, (w) => w.end)]).sort((a, b) => a - b);
  const at = (p: number) => errors[Math.floor(p * (errors.length - 1))] ?? 0;
  return { p50: at(0.5), p90: at(0.9) };
}

async function languageRates(pool: Pool, accurate: boolean): Promise<Accuracy['languages']> {
  const all = new Map<string, { errors: Errors; right: number; count: number }>();
  for (const clip of foreignClips()) {
    const found = await transcript(clip.path, pool, { diarize: false, accurate });
    const entry = all.get(clip.language) ?? { errors: NO_ERRORS, right: 0, count: 0 };
    entry.errors = addErrors(entry.errors, countErrors(unitsOf(clip.transcript, clip.language), unitsOf(textOf(found), clip.language)));
    entry.count++;
    if (storedLanguage(found.language ?? '') === storedLanguage(clip.language)) entry.right++;
    all.set(clip.language, entry);
  }
  return [...all].map(([language, e]) => ({ language, rate: errorRate(e.errors), detected: `${e.right}/${e.count}` }));
}

async function conversationRates(
  pool: Pool,
  folder: string,
  { conversations, accurate }: AccuracyOptions,
): Promise<Accuracy['conversations']> {
  const results: Diarization[] = [];
  let errors = NO_ERRORS;
  let [right, total] = [0, 0];
  for (let i = 0; i < conversations; i++) {
    const speakers = 2 + (i % 5);
    const made = await conversation(100 + i, {
      speakers,
      seconds: 100 + 25 * speakers,
      overlaps: i % 2 ? 0.12 : 0,
      telephone: i % 3 === 1,
      noise: i % 4 === 3 ? 25 : null,
    });
    const path = join(folder, 'conversation.wav');
    await writeWav(path, made.samples);
    const found = await transcript(path, pool, { language: 'en', accurate });
    const turns = found.segments.flatMap((s) => s.words.map((word) => ({ speaker: String(s.speaker), start: word.start, end: word.end })));
    results.push(diarizationError(made.turns, await spokenTurns(path, pool)));
    const said = englishWords(made.said.map((s) => s.transcript).join(' '));
    errors = addErrors(errors, countErrors(said, englishWords(textOf(found))));
    const attributed = wordsAttributed(made, turns);
    right += attributed.right;
    total += attributed.total;
  }
  return { ...meanDiarization(results), wordsAttributed: right / Math.max(1, total), wordErrorRate: errorRate(errors) };
}

/** Turns as diarization alone finds them. */
async function spokenTurns(path: string, pool: Pool) {
  const { result } = await diarization(path, pool);
  return result.map((turn) => ({ speaker: String(turn.speaker), start: turn.start, end: turn.end }));
}

/** Words whose middle lies in a turn of exactly one true speaker, and how many carry that speaker under the best mapping. */
function wordsAttributed(made: Conversation, words: { speaker: string; start: number; end: number }[]): { right: number; total: number } {
  const names = [...new Set(made.turns.map((t) => t.speaker))];
  const found = [...new Set(words.map((w) => w.speaker))];
  const counts = found.map(() => names.map(() => 0));
  let total = 0;
  for (const word of words) {
    const middle = (word.start + word.end) / 2;
    const speaking = new Set(made.said.filter((t) => t.start <= middle && middle < t.end).map((t) => t.speaker));
    if (speaking.size !== 1) continue;
    total++;
    counts[found.indexOf(word.speaker)]![names.indexOf([...speaking][0]!)]!++;
  }
  const mapping = bestMapping(counts);
  return { total, right: mapping.reduce((sum, j, i) => sum + (j >= 0 ? counts[i]![j]! : 0), 0) };
}

async function realTurns(pool: Pool): Promise<Accuracy['realTurns']> {
  const out: Accuracy['realTurns'] = [];
  for (const clip of clips().filter((c) => c.category === '3')) {
    const { error, speakers, trueSpeakers } = diarizationError(turnsOf(clip.file), await spokenTurns(clip.path, pool));
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
