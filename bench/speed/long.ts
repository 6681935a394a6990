/**
 * A long recording in a fresh engine: an hour of two speakers, then the same hour repeated in one file, with 5-second notes meanwhile:
 * `scripts/longhand bench long [--hours 10] [--every 20] [--json]`. Targets for ten hours: at most 1.1 times the time per hour of a
 * one-hour file, at most 1.5 GiB, ordered timestamps, and every note within 6 s. Exits with 1 if one is missed.
 */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { rm } from 'node:fs/promises';
import { cpus } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { inspect } from 'node:util';
import { readSettings } from '../../api/contract/settings.ts';
import { openPool, type Pool } from '../../engine/runtime/pool.ts';
import type { Transcript } from '../../engine/types.ts';
import { fittingModel } from '../../models/choosing/fit.ts';
import { SHIPPED_FOLDER } from '../../models/manifest.ts';
import { readNumbers } from '../numbers.ts';
import { scratchFolder } from '../scratch.ts';
import { minutesPerHour, peakMemory, timed, transcript } from './measure.ts';

const LONGER = 1.1;
const MIB = 1536;
const NOTE_SECONDS = 6;

const { hours, every, json } = readNumbers({ hours: 10, every: 20 }); // `every`: seconds from the end of one note to the next
const folder = scratchFolder('long');
try {
  const [hour, long, note] = ['hour.wav', 'long.wav', 'note.wav'].map((name) => join(folder, name)) as [string, string, string];
  await writeFiles(hour, long, note);
  const settings = readSettings(process.env);
  const { folder: whisper } = await fittingModel(settings.LONGHAND_MODEL, settings.LONGHAND_HOME);
  const pool = await openPool({
    models: { whisper, diarization: join(SHIPPED_FOLDER, 'diarization') },
    threads: settings.LONGHAND_THREADS,
  });
  try {
    const result = await measure(pool, hour, long, note);
    process.stdout.write(json ? `${JSON.stringify(result)}\n` : `${inspect(result, { depth: 3, breakLength: 120 })}\n`);
    process.exitCode = result.kept ? 0 : 1;
  } finally {
    await pool.close();
  }
} finally {
  await rm(folder, { recursive: true, force: true });
}

/** In a separate process, because the memory used to create an hour of audio would count as the engine's. */
async function writeFiles(...paths: [hour: string, long: string, note: string]): Promise<void> {
  const [code] = await once(fork(fileURLToPath(new URL('../recordings/hours.ts', import.meta.url)), [...paths, String(hours)]), 'exit');
  if (code !== 0) throw new Error(`Cannot create the recordings: bench/recordings/hours.ts exited with ${code}; see its message above`);
}

async function measure(pool: Pool, hour: string, long: string, note: string) {
  process.stderr.write('one hour\n');
  const one = await timed(() => transcript(hour, pool));
  const afterOne = peakMemory();
  process.stderr.write(`${Math.ceil(hours)} hours, with notes meanwhile\n`);
  let running = true;
  const work = timed(() => transcript(long, pool)).finally(() => {
    running = false;
  });
  const notes: number[] = [];
  while (running) {
    notes.push((await timed(() => transcript(note, pool))).seconds);
    process.stderr.write(`a note took ${notes.at(-1)!.toFixed(2)} s, ${peakMemory().toFixed(0)} MiB\n`);
    await Promise.race([work, sleep(every * 1000)]);
  }
  const { result, seconds } = await work;
  const perHour = { one: perHourOf(one.seconds, one.result), long: perHourOf(seconds, result) };
  const slowest = Math.max(...notes);
  const disorder = outOfOrder(result);
  return {
    machine: `${cpus().length} x ${cpus()[0]?.model}`,
    minutes_per_hour: { ...perHour, ratio: perHour.long / perHour.one },
    peak_mib: { after_one_hour: afterOne, after_all: peakMemory() },
    notes: { count: notes.length, slowest_seconds: slowest },
    segments: result.segments.length,
    out_of_order: disorder,
    speakers: new Set(result.segments.map(({ speaker }) => speaker)).size,
    kept: perHour.long <= LONGER * perHour.one && peakMemory() <= MIB && slowest < NOTE_SECONDS && disorder === 0,
  };
}

function perHourOf(seconds: number, { durationSeconds }: Transcript): number {
  return minutesPerHour(seconds, durationSeconds);
}

/** Segments that start before the previous one, end before they start, or exceed the recording. */
function outOfOrder({ segments, durationSeconds }: Transcript): number {
  const wrong = segments.filter(({ start, end }, i) => start < (segments[i - 1]?.start ?? 0) || end < start || end > durationSeconds);
  return wrong.length;
}
