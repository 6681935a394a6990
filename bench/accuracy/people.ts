import { join } from 'node:path';
import { unit } from '../../engine/diarization/embedding.ts';
import { dot } from '../../engine/diarization/label.ts';
import type { Pool } from '../../engine/runtime/pool.ts';
import { voices } from '../recordings/clips.ts';
import { type ConversationOptions, conversation } from '../recordings/conversations.ts';
import { SAMPLE_RATE, samplesOf, writeWav } from '../recordings/sound.ts';
import { diarization } from '../speed/measure.ts';

/** Number of speakers found, by actual number. */
export interface PeopleFound {
  what: string;
  files: number;
  /** Files with the correct number. */
  right: number;
  /** Speakers too many or too few, summed over all files. */
  off: number;
  /** Files with the correct number when it was given. */
  given: number;
}

interface Setting extends Omit<ConversationOptions, 'speakers' | 'seconds'> {
  seed: number;
  minutes: number;
  speakers: number;
}

const COUNTS = [1, 2, 3, 4, 6, 8, 10, 12, 15, 20];
const EACH = 3; // conversations of each number of people
const ALIKE = 4; // pairs of the most similar voices
const MONOLOGUES = 4;
const EMBEDDED = 3 * SAMPLE_RATE + 240; // samples compared per clip

/** Conversations of 1 to 20 people, three of each number; monologues; two very similar voices; eight people for 40 minutes. */
export async function peopleFound(pool: Pool, folder: string, { data, seed }: { data?: string; seed: number }): Promise<PeopleFound[]> {
  const path = join(folder, 'people.wav');
  const count = async (what: string, settings: readonly Setting[]): Promise<PeopleFound> => {
    const row: PeopleFound = { what, files: settings.length, right: 0, off: 0, given: 0 };
    for (const { minutes, seed, ...options } of settings) {
      const made = await conversation(seed, { ...options, seconds: 60 * minutes, varied: true, data });
      await writeWav(path, made.samples);
      const found = async (speakers: number | null) => {
        const { result } = await diarization(path, pool, speakers);
        return new Set(result.map(({ speaker }) => speaker)).size;
      };
      const off = Math.abs((await found(null)) - made.speakers);
      row.off += off;
      if (off === 0) row.right++;
      if ((await found(made.speakers)) === made.speakers) row.given++;
    }
    return row;
  };
  const rows: PeopleFound[] = [];
  const most = distinct(data).length;
  for (const speakers of COUNTS.filter((count) => count <= most))
    rows.push(
      await count(
        `${speakers} speak`,
        Array.from({ length: EACH }, (_, i) => mixed(seed + i, speakers, data)),
      ),
    );
  const readers = [...voices(data)].filter(([, clips]) => clips.length > 1 && clips.every(({ language }) => language === 'en'));
  const alone = readers.slice(0, MONOLOGUES).map(([name], i) => ({ seed: seed - 1 + i, speakers: 1, minutes: 20, cast: [name] }));
  if (alone.length) rows.push(await count('one speaks for 20 minutes', alone));
  const alike = (await likest(pool, data)).map((cast, i) => ({ seed: seed - 1 + i, speakers: 2, minutes: 6, cast }));
  if (alike.length) rows.push(await count('two speakers with similar voices', alike));
  if (most >= 8) rows.push(await count('eight speak for 40 minutes', [{ ...mixed(seed, 8, data), minutes: 40 }]));
  return rows;
}

/** Duration grows with the number of people; every other conversation has interruptions and noise. */
function mixed(seed: number, speakers: number, data?: string): Setting {
  const hard = (seed + speakers) % 2 === 1;
  const common = { seed, speakers, minutes: 4 + 0.6 * speakers, cast: distinct(data), languages: () => true };
  return { ...common, overlaps: hard ? 0.12 : 0, noise: hard ? 25 : null };
}

/**
 * Voices that certainly belong to different people: from a collection without speaker names only the first, because others may be the same
 * person.
 */
function distinct(data?: string): string[] {
  const seen = new Set<string>();
  const collection = (name: string) => name.replace(/_\d+\.\w+$/, '');
  return [...voices(data).keys()].filter((name) => !seen.has(collection(name)) && seen.add(collection(name)));
}

/** Pairs of English voices with the most similar speaker embeddings; each voice in at most one pair. */
async function likest(pool: Pool, data?: string): Promise<[string, string][]> {
  const job = pool.job(new AbortController().signal);
  const prints = new Map<string, Float32Array>();
  for (const [name, clips] of voices(data)) {
    if (clips.some(({ language }) => language !== 'en')) continue;
    const sounds = (await Promise.all(clips.map(({ path }) => samplesOf(path)))).filter(({ length }) => length >= EMBEDDED);
    const each = await Promise.all(sounds.map(async (sound) => (await job.embed([sound.slice(0, EMBEDDED)]))[0]!));
    if (each.length) prints.set(name, unit(each.reduce((sum, print) => sum.map((value, k) => value + print[k]!))));
  }
  const names = [...prints.keys()];
  const pairs = names.flatMap((a, i) => names.slice(i + 1).map((b): [string, string] => [a, b]));
  const likeness = ([a, b]: [string, string]) => dot(prints.get(a)!, prints.get(b)!);
  const chosen: [string, string][] = [];
  for (const pair of pairs.toSorted((a, b) => likeness(b) - likeness(a)))
    if (chosen.length < ALIKE && !chosen.flat().some((name) => pair.includes(name))) chosen.push(pair);
  return chosen;
}
