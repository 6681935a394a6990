import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { Pool } from '../../engine/runtime/pool.ts';
import { countErrors, named, wordsAttributed } from '../errors/align.ts';
import { type Diarization, diarizationError, meanDiarization } from '../errors/der.ts';
import { addErrors, englishWords, errorRate, NO_ERRORS } from '../errors/normalise.ts';
import { seeded } from '../random.ts';
import { clips, MissingClips, turnsOf } from '../recordings/clips.ts';
import { type ConversationOptions, conversation } from '../recordings/conversations.ts';
import { NOISES, VOICELIKE } from '../recordings/noises.ts';
import { writeWav } from '../recordings/sound.ts';
import { scratchFolder } from '../scratch.ts';
import { diarization, textOf, transcript } from '../speed/measure.ts';
import { changeRates } from './changes.ts';
import { interjectionsKept } from './interjections.ts';
import type { Accuracy, AccuracyOptions, Measures } from './measures.ts';
import { meetingRates } from './meetings.ts';
import { call, LINES, partyErrors, record } from './parties.ts';
import { peopleFound } from './people.ts';
import { joinedRate, languageRates, quietRates, rateOf, spokenEnglish } from './word-errors.ts';

type Measure = (pool: Pool, folder: string, options: AccuracyOptions) => Promise<Accuracy>;

/** The measurements that can be selected, in this order. */
const PARTS = {
  clips: async (pool, _, { data, split, accurate }) => ({ clips: await rateOf(pool, spokenEnglish(data, split), accurate) }),
  joined: joinedRate,
  languages: languageRates,
  changes: changeRates,
  conversations: conversationRates,
  rooms: async (pool, folder, options) => ({
    rooms: await meetingRates(pool, folder, options),
    noisyRooms: await meetingRates(pool, folder, { ...options, noisyVoices: true }),
  }),
  calls: async (pool, folder, options) => ({ calls: await callRates(pool, folder, options) }),
  people: async (pool, folder, options) => ({ people: await peopleFound(pool, folder, options) }),
  interjections: interjectionRates,
  turns: async (pool, _, options) => ({ realTurns: await realTurns(pool, options) }),
  noise: async (pool, folder, options) => ({ invented: await inventedWords(pool, folder, options) }),
  quiet: quietRates,
} satisfies Record<string, Measure>;

export type Part = keyof typeof PARTS;

/**
 * WER, DER, hallucinations: everything that must not get worse when the engine gets faster. `parts`: default: all. Those for which the
 * folder has no recordings are left out.
 */
export async function measureAccuracy(pool: Pool, options: AccuracyOptions & { parts?: readonly Part[] }): Promise<Accuracy> {
  const folder = scratchFolder('bench');
  const found: Accuracy = {};
  const missing: MissingClips[] = [];
  try {
    for (const [part, measure] of Object.entries(PARTS)) {
      if (options.parts && !options.parts.includes(part as Part)) continue;
      options.log(part);
      try {
        Object.assign(found, await measure(pool, folder, options));
      } catch (error) {
        if (!(error instanceof MissingClips)) throw error;
        options.log(`  ${error.message}`);
        missing.push(error);
      }
    }
    if (missing[0] && !Object.keys(found).length) throw missing[0];
    return found;
  } finally {
    await rm(folder, { recursive: true });
  }
}

/** Conversation number `i` of the benchmark: 2 to 6 speakers, 50 % with interruptions, some by telephone, some with noise. */
export function measured(
  i: number,
  { data, split, seed = 1 }: Partial<AccuracyOptions> = {},
): [seed: number, options: ConversationOptions] {
  const speakers = 2 + (i % 5);
  const seconds = 100 + 25 * speakers;
  return [
    99 + seed + i,
    { speakers, seconds, overlaps: i % 2 ? 0.12 : 0, telephone: i % 3 === 1, noise: i % 4 === 3 ? 25 : null, data, split },
  ];
}

async function conversationRates(pool: Pool, folder: string, options: AccuracyOptions): Promise<Accuracy> {
  const results: Diarization[] = [];
  let errors = NO_ERRORS;
  let [right, total] = [0, 0];
  for (let i = 0; i < options.conversations; i++) {
    const made = await conversation(...measured(i, options));
    const path = join(folder, 'conversation.wav');
    await writeWav(path, made.samples);
    const found = await transcript(path, pool, { language: 'en', accurate: options.accurate });
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

const CALL = 60; // seconds

async function callRates(pool: Pool, folder: string, { seed, accurate, data, split }: AccuracyOptions): Promise<Measures['calls']> {
  const made = await call(seed, CALL, data, split);
  const out: Measures['calls'] = [];
  for (const line of Object.keys(LINES)) {
    const { segments } = await transcript(await record(made, line, folder), pool, { language: 'en', accurate });
    const { errors, twice, parties } = partyErrors(made.said, segments);
    out.push({ line, wrong: errorRate(errors), twice, parties });
  }
  return out;
}

async function interjectionRates(pool: Pool, folder: string, options: AccuracyOptions): Promise<Accuracy> {
  const interjections = await interjectionsKept(pool, folder, options);
  if (interjections) return { interjections };
  options.log(`skipped: ${options.data} has no short.tsv with interjections, unlike bench/data`);
  return {};
}

async function realTurns(pool: Pool, { data, split }: AccuracyOptions): Promise<Measures['realTurns']> {
  const out: Measures['realTurns'] = [];
  for (const clip of clips(data, split).filter((c) => c.category === '3')) {
    const found = named((await diarization(clip.path, pool)).result);
    const { error, speakers, trueSpeakers } = diarizationError(turnsOf(clip.file, data), found);
    out.push({ file: clip.file, error, speakers, trueSpeakers });
  }
  return out;
}

async function inventedWords(pool: Pool, folder: string, { seed, accurate }: AccuracyOptions): Promise<Record<string, number>> {
  const out: Record<string, number> = {};
  for (const [name, make] of Object.entries({ ...NOISES, ...VOICELIKE })) {
    const path = join(folder, 'noise.wav');
    await writeWav(path, make(60, seeded(seed + 2)));
    const found = await transcript(path, pool, { diarize: false, accurate });
    out[name] = found.segments.reduce((sum, segment) => sum + segment.words.length, 0);
  }
  return out;
}
