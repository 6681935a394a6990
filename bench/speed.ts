import { join } from 'node:path';
import type { Pool } from '../engine/runtime/pool.ts';
import { conversation } from './conversations.ts';
import { diarization, minutesPerHour, peakMemory, timed, transcript } from './measure.ts';
import { SAMPLE_RATE, writeWav } from './sound.ts';

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
  /** Seconds that a one-minute call and a 5-second note take while these files run. */
  call: { p50: number; p95: number };
  note: { p50: number; p95: number };
}

export interface SpeedOptions {
  /** Length of the measured conversation. */
  minutes: number;
  /** Largest number of concurrent files. */
  files: number;
  folder: string;
  log: (line: string) => void;
}

const CALLS = 6; // one-minute calls, and notes, submitted under load, for the percentiles

/** Times recognition only, diarization only, everything, and several concurrent files. Nothing else should run on the machine. */
export async function measureSpeed(pool: Pool, { minutes, files, folder, log }: SpeedOptions): Promise<Speed> {
  const paths = await makeFiles(minutes, folder);
  log('a short note, cold and warm');
  const cold = (await timed(() => transcript(paths.note, pool))).seconds;
  const warm = (await timed(() => transcript(paths.note, pool))).seconds;
  log(`recognition of ${minutes} minutes`);
  const recognition = await timed(() => transcript(paths.long, pool, { diarize: false }));
  const audio = recognition.result.durationSeconds;
  log('diarization');
  const voices = await diarization(paths.long, pool);
  log('everything');
  const total = await timed(() => transcript(paths.long, pool));
  const parallel: Parallel[] = [];
  for (let n = 1; n <= files; n *= 2) {
    log(`${n} at once`);
    parallel.push(await busy(pool, paths, n, audio));
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

/** `n` concurrent long files, with one-minute calls and notes in between. */
async function busy(pool: Pool, paths: Paths, n: number, audioSeconds: number): Promise<Parallel> {
  const calls: number[] = [];
  const notes: number[] = [];
  const work = timed(() => Promise.all(Array.from({ length: n }, () => transcript(paths.long, pool))));
  for (let i = 0; i < CALLS; i++) {
    notes.push((await timed(() => transcript(paths.note, pool))).seconds);
    calls.push((await timed(() => transcript(paths.call, pool))).seconds);
  }
  const { seconds } = await work;
  const audio = audioSeconds * n + CALLS * (56 + 5);
  return { files: n, minutesPerHour: minutesPerHour(seconds, audio), call: percentiles(calls), note: percentiles(notes) };
}

function percentiles(seconds: number[]): { p50: number; p95: number } {
  const sorted = seconds.toSorted((a, b) => a - b);
  const at = (p: number) => sorted[Math.min(sorted.length - 1, Math.floor(p * sorted.length))]!;
  return { p50: at(0.5), p95: at(0.95) };
}
