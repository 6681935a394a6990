import { join } from 'node:path';
import type { Pool } from '../../engine/runtime/pool.ts';
import { named } from '../errors/align.ts';
import { bestMapping, type Diarization, diarizationError, meanDiarization } from '../errors/der.ts';
import { seeded } from '../random.ts';
import type { Split, TrueTurn } from '../recordings/clips.ts';
import { type Meeting, meeting } from '../recordings/rooms.ts';
import { SAMPLE_RATE, writeWav } from '../recordings/sound.ts';
import { diarization } from '../speed/measure.ts';

export interface MeetingRates extends ReturnType<typeof meanDiarization> {
  /** Interjections of 0.25 to 0.9 s, and how many of them have a turn of their speaker over at least 50 % of their length. */
  interjections: number;
  kept: number;
  minutesPerHour: number;
}

export interface MeetingOptions {
  split: Split;
  seed: number;
  data?: string;
  noisyVoices?: boolean;
}

export const ROOMS = 10;

/** Meeting number `i` of the benchmark: 3 to 8 people, 2 to 5.5 minutes, 10 to 30 % overlapped speech. */
export function room(i: number, { split, seed, data, noisyVoices }: MeetingOptions): Promise<Meeting> {
  const speakers = 3 + (i % 6);
  const overlap = seeded(seed + i).between(0.1, 0.3);
  return meeting(seed + i, { speakers, seconds: 90 + 30 * speakers, overlap, split, data, noisyVoices });
}

/** Diarization of ten simulated rooms: DER without a collar, overlap included, and results for interjections. */
export async function meetingRates(pool: Pool, folder: string, options: MeetingOptions): Promise<MeetingRates> {
  const path = join(folder, 'room.wav');
  const results: Diarization[] = [];
  let [interjections, kept, seconds, audio] = [0, 0, 0, 0];
  for (let i = 0; i < ROOMS; i++) {
    const made = await room(i, options);
    await writeWav(path, made.samples);
    const found = await diarization(path, pool);
    results.push(diarizationError(made.turns, named(found.result)));
    interjections += made.interjections.length;
    kept += interjectionsWithTurn(made, named(found.result));
    seconds += found.seconds;
    audio += made.samples.length / SAMPLE_RATE;
  }
  return { ...meanDiarization(results), interjections, kept, minutesPerHour: (60 * seconds) / audio };
}

/** Interjections covered to at least 50 % by a turn of their speaker, under the mapping of speakers with the most time in common. */
export function interjectionsWithTurn(
  { turns, interjections }: Pick<Meeting, 'turns' | 'interjections'>,
  found: readonly TrueTurn[],
): number {
  const people = [...new Set(turns.map(({ speaker }) => speaker))];
  const names = [...new Set(found.map(({ speaker }) => speaker))];
  const of = (list: readonly TrueTurn[], name: string) => list.filter(({ speaker }) => speaker === name);
  const mapping = bestMapping(people.map((person) => names.map((name) => together(of(turns, person), of(found, name)))));
  return interjections.filter((one) => {
    const name = names[mapping[people.indexOf(one.speaker)]!];
    return name !== undefined && together([one], of(found, name)) >= (one.end - one.start) / 2;
  }).length;
}

/** Seconds that the turns of two people have in common. */
function together(a: readonly TrueTurn[], b: readonly TrueTurn[]): number {
  let sum = 0;
  for (const one of a) for (const other of b) sum += Math.max(0, Math.min(one.end, other.end) - Math.max(one.start, other.start));
  return sum;
}
