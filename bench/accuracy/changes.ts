import { join } from 'node:path';
import type { Pool } from '../../engine/runtime/pool.ts';
import { SAMPLE_RATE } from '../../engine/types.ts';
import { errorsOfRuns, longestGap } from '../errors/align.ts';
import { addErrors, type Errors, errorRate, NO_ERRORS, unitsOf } from '../errors/normalise.ts';
import { seeded } from '../random.ts';
import { type Clip, englishClips, foreignClips, type Split, someOf } from '../recordings/clips.ts';
import { cleanSamples } from '../recordings/conversations.ts';
import { level, mixInto, scaled, writeWav } from '../recordings/sound.ts';
import { textOf, transcript } from '../speed/measure.ts';
import type { Accuracy, AccuracyOptions, ChangeRate } from './measures.ts';
import { byRecording, rated } from './word-errors.ts';

const STRETCHES = [5, 15, 40, 120]; // seconds
const LEAST = 30; // minimum seconds of clips per language
const LOST = 0.6;
const WANTED = `pairs of languages with ${LEAST} s of clips each`;

/** One recording: stretches in several languages, each with its reference transcript. */
export interface Changing {
  samples: Float32Array;
  said: { language: string; transcript: string; sentences: string[] }[];
}

/** Error rates of stretches when the language changes, in both orders of two and three languages. */
export async function changeRates(pool: Pool, folder: string, options: AccuracyOptions): Promise<Pick<Accuracy, 'changes'>> {
  const changes: ChangeRate[] = [];
  for (const seconds of STRETCHES) {
    const found = [];
    for (const order of someOf(orders(usable(options)), WANTED, options.data, options.split))
      found.push(await oneRate(pool, folder, order, seconds, options));
    const stretches = found.flatMap(({ stretches }) => stretches);
    const lost = stretches.filter((own) => errorRate(own) > LOST).length;
    const rate = rated(sentenceErrors(found)); // of sentences, not of stretches: a sentence is in the stretches of several orders
    changes.push({ ...rate, seconds, stretches: stretches.length, lost, gap: Math.max(...found.map(({ gap }) => gap)) });
  }
  return { changes };
}

/** Errors by sentence, summed over all recordings that contain it. */
export function sentenceErrors(recordings: readonly ReturnType<typeof changeErrors>[]): Errors[] {
  return byRecording(
    recordings.flatMap(({ sentences }) => sentences),
    recordings.flatMap(({ errors }) => errors),
  );
}

/** Errors of one recording's text: of its sentences in order, and of its stretches. */
export function changeErrors(said: Changing['said'], text: string) {
  const sentences = said.flatMap(({ sentences }, stretch) => sentences.map((transcript) => ({ transcript, stretch })));
  const runs = sentences.map(({ transcript }) => plainWords(transcript));
  const heard = plainWords(text);
  const errors = errorsOfRuns(runs, heard);
  const stretches = said.map((_, i) => errors.filter((_, k) => sentences[k]!.stretch === i).reduce(addErrors, NO_ERRORS));
  return { sentences, errors, stretches, gap: longestGap(runs.flat(), heard) };
}

async function oneRate(pool: Pool, folder: string, order: readonly string[], seconds: number, options: AccuracyOptions) {
  const made = await changing(order, seconds, options);
  const path = join(folder, 'changing.wav');
  await writeWav(path, made.samples);
  const text = textOf(await transcript(path, pool, { diarize: false, accurate: options.accurate }));
  const found = changeErrors(made.said, text);
  for (const [i, own] of found.stretches.entries())
    if (errorRate(own) > LOST) options.log(`  ${order.join(', ')}, ${seconds} s each: ${made.said[i]!.language} is lost (number ${i + 1})`);
  return found;
}

/** Clips of a single speaker with a complete transcript. */
const usable = ({ data, split }: { data?: string; split?: Split }) =>
  [...englishClips(data, split), ...foreignClips(data, split)].filter((clip) => clip.seconds >= 3);

/** All pairs, and one triple, of the languages with enough clips, in both orders. */
function orders(list: readonly Clip[]): string[][] {
  const seconds = new Map<string, number>();
  for (const clip of list) seconds.set(clip.language, (seconds.get(clip.language) ?? 0) + clip.seconds);
  const languages = [...seconds].flatMap(([language, sum]) => (sum >= LEAST ? [language] : []));
  const pairs = languages.flatMap((first, i) => languages.slice(i + 1).map((second) => [first, second]));
  const triples = languages.length > 2 ? [languages.slice(0, 3)] : [];
  return [...pairs, ...triples].flatMap((order) => [order, order.toReversed()]);
}

/** Words of any of the languages; unlike `englishWords` spellings are not unified. */
const plainWords = (text: string) => unitsOf(text, 'de');

/** Clips of each language in turn, normalised to the same loudness, about `seconds` of each. */
export async function changing(
  order: readonly string[],
  seconds: number,
  { seed = 1, data, split }: { seed?: number; data?: string; split?: Split } = {},
): Promise<Changing> {
  const random = seeded(seed);
  const list = usable({ data, split });
  const parts: { samples: Float32Array; at: number }[] = [];
  const said: Changing['said'] = [];
  let at = 0.3;
  for (const language of order) {
    const texts: string[] = [];
    const end = at + seconds;
    for (const clip of repeated(random.shuffle(list.filter((clip) => clip.language === language)))) {
      const clean = await cleanSamples(clip);
      parts.push({ samples: scaled(clean, 0.06 / (level(clean) || 1)), at });
      texts.push(clip.transcript);
      at += clean.length / SAMPLE_RATE + random.between(0.3, 1.2);
      if (at >= end) break;
    }
    said.push({ language, transcript: texts.join(' '), sentences: texts });
  }
  const samples = new Float32Array(Math.ceil(at * SAMPLE_RATE));
  for (const part of parts) mixInto(samples, part.samples, Math.round(part.at * SAMPLE_RATE));
  return { samples, said };
}

function* repeated(list: readonly Clip[]): Generator<Clip> {
  if (!list.length) throw new Error('There are no clips of a language in this set');
  for (;;) yield* list;
}
