import { join } from 'node:path';
import type { Pool } from '../../engine/runtime/pool.ts';
import type { Transcript } from '../../engine/types.ts';
import { conversation } from '../recordings/conversations.ts';
import { SAMPLE_RATE, writeWav } from '../recordings/sound.ts';
import { diarization, minutesPerHour, peakMemory, type Timed, timed, transcript } from './measure.ts';

export interface Speed {
  audioMinutes: number;
  minutesPerHour: { recognition: number; diarization: number; total: number };
  /** Hours of audio per hour of processing. */
  rtfx: number;
  audioHoursPerDay: number;
  /** Seconds to process a 5-second note on an idle engine: the first and later ones. */
  note: { cold: number; warm: number };
  parallel: Parallel[];
  peakMegabytes: number;
}

export interface Parallel {
  files: number;
  minutesPerHour: number;
  /** Seconds that one-minute calls and 5-second notes take that are submitted while these files run. */
  call: Latency;
  note: Latency;
}

interface Latency {
  /** Number of runs. */
  count: number;
  p50: number;
  p95: number;
}

export interface SpeedOptions {
  /** Length of the measured conversation. */
  minutes: number;
  /** Largest number of concurrent files. */
  files: number;
  /** By beam search. */
  accurate: boolean;
  folder: string;
  log: (line: string) => void;
}

const CALLS = 6; // one-minute calls, and notes, submitted under load at most, for the percentiles

/** Times recognition only, diarization only, everything, and several concurrent files. Nothing else should run on the machine. */
export async function measureSpeed(pool: Pool, { minutes, files, accurate, folder, log }: SpeedOptions): Promise<Speed> {
  const run = (path: string, diarize = true) => transcript(path, pool, { accurate, diarize });
  const paths = await makeFiles(minutes, folder);
  log('a short note, cold and warm');
  const cold = (await timed(() => run(paths.note))).seconds;
  const warm = (await timed(() => run(paths.note))).seconds;
  log(`recognition of ${minutes} minutes`);
  const recognition = await timed(() => run(paths.long, false));
  const audio = recognition.result.durationSeconds;
  log('diarization');
  const voices = await diarization(paths.long, pool);
  log('everything');
  const total = await timed(() => run(paths.long));
  const parallel: Parallel[] = [];
  for (let n = 1; n <= files; n *= 2) {
    log(`${n} at once`);
    parallel.push(await underLoad(run, paths, n));
  }
  const perHour = minutesPerHour(total.seconds, audio);
  return {
    audioMinutes: audio / 60,
    minutesPerHour: {
      recognition: minutesPerHour(recognition.seconds, audio),
      diarization: minutesPerHour(voices.seconds, audio),
      total: perHour,
    },
    rtfx: 60 / perHour,
    audioHoursPerDay: (24 * 60) / perHour,
    note: { cold, warm },
    parallel,
    peakMegabytes: peakMemory(),
  };
}

interface Paths {
  long: string;
  call: string;
  note: string;
}

/** A two-person conversation, a one-minute call and a 5-second note. */
async function makeFiles(minutes: number, folder: string): Promise<Paths> {
  const paths: Paths = { long: join(folder, 'long.wav'), call: join(folder, 'call.wav'), note: join(folder, 'note.wav') };
  const long = await conversation(7, { speakers: 2, seconds: minutes * 60, overlaps: 0.05 });
  const call = await conversation(8, { speakers: 2, seconds: 55, telephone: true });
  await writeWav(paths.long, long.samples);
  await writeWav(paths.call, call.samples);
  await writeWav(paths.note, long.samples.subarray(0, 5 * SAMPLE_RATE));
  return paths;
}

/** `n` concurrent long files, with notes and one-minute calls in between as long as they run, at least one of each. */
export async function underLoad(run: (path: string) => Promise<Transcript>, paths: Paths, n: number): Promise<Parallel> {
  const calls: Timed<Transcript>[] = [];
  const notes: Timed<Transcript>[] = [];
  const { result: long, seconds } = await timed(async () => {
    let running = true;
    const work = Promise.all(Array.from({ length: n }, () => run(paths.long))).finally(() => {
      running = false;
    });
    do {
      notes.push(await timed(() => run(paths.note)));
      if (running || !calls.length) calls.push(await timed(() => run(paths.call)));
    } while (running && calls.length < CALLS);
    return work;
  });
  const audio = [...long, ...[...calls, ...notes].map(({ result }) => result)].reduce(
    (sum, { durationSeconds }) => sum + durationSeconds,
    0,
  );
  return { files: n, minutesPerHour: minutesPerHour(seconds, audio), call: percentiles(calls), note: percentiles(notes) };
}

function percentiles(runs: readonly Timed<unknown>[]): Latency {
  const sorted = runs.map(({ seconds }) => seconds).sort((a, b) => a - b);
  const at = (p: number) => sorted[Math.min(sorted.length - 1, Math.floor(p * sorted.length))]!;
  return { count: runs.length, p50: at(0.5), p95: at(0.95) };
}
