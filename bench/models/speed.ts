import { join } from 'node:path';
import type { Pool } from '../../engine/runtime/pool.ts';
import type { Measured } from '../../models/checks/self-check.ts';
import { conversation } from '../recordings/conversations.ts';
import { repeatWav, writeWav } from '../recordings/sound.ts';
import { timed, transcript } from '../speed/measure.ts';

/* The speed of a model in a self-check. */

export type Speed = Pick<Measured, 'rtfx' | 'cpuLoad'>;

const TALK_SECONDS = 100; // for each thread: three full windows

/** Wall-clock and CPU time of some work, seconds; the latter of all threads of this process. */
export async function timedHere<T>(work: () => Promise<T>) {
  const idle = process.cpuUsage();
  const done = await timed(work);
  const { user, system } = process.cpuUsage(idle);
  return { ...done, cpuSeconds: (user + system) / 1e6 };
}

export function speedOf(audioSeconds: number, { seconds, cpuSeconds }: { seconds: number; cpuSeconds: number }): Speed {
  return { rtfx: audioSeconds / Math.max(0.001, seconds), cpuLoad: cpuSeconds / Math.max(1, audioSeconds) };
}

/** Writes a conversation of two into a folder and returns its path. */
export async function writeTalk(folder: string): Promise<string> {
  const path = join(folder, 'talk.wav');
  await writeWav(path, (await conversation(7, { speakers: 2, seconds: TALK_SECONDS, overlaps: 0.05 })).samples);
  return path;
}

/** Speed on a talk, repeated to keep all threads busy; null if it is longer than `longest` seconds. */
export async function speedOnTalk(pool: Pool, talk: string, longest: number): Promise<Speed | null> {
  const times = Math.min(pool.threads, Math.floor(longest / TALK_SECONDS));
  if (times < 1) return null;
  const long = `${talk}.long.wav`;
  await repeatWav(talk, long, times);
  const { result, ...time } = await timedHere(() => transcript(long, pool, { diarize: false }));
  return speedOf(result.durationSeconds, time);
}
