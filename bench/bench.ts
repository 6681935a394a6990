import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { availableParallelism, cpus, tmpdir, totalmem } from 'node:os';
import { join } from 'node:path';
import type { Pool } from '../engine/runtime/pool.ts';
import { measureAccuracy, type Part } from './accuracy.ts';
import { countErrors } from './align.ts';
import type { Split } from './clips.ts';
import { joined } from './conversations.ts';
import { measureCoverage } from './coverage.ts';
import { minutesPerHour, peakMemory, textOf, timed, transcript } from './measure.ts';
import { englishWords, errorRate } from './normalise.ts';
import { openPeer, type PEERS, type Peer } from './peers.ts';
import { measureProfile } from './profile.ts';
import { chart, compare, type PeerRow, type Report, table } from './report.ts';
import { BUSY_HOUR, size } from './sizing.ts';
import { writeWav } from './sound.ts';
import { measureSpeed } from './speed.ts';

export interface BenchOptions {
  /** Length of the measured recordings, minutes. */
  minutes: number;
  /** Largest number of concurrent files. */
  files: number;
  accuracy: boolean | readonly Part[];
  /** Skip the speed; with `accuracy`, a gate for continuous integration. */
  speed: boolean;
  accurate: boolean;
  /** Languages in which a minute of synthetic speech is transcribed; true: all available ones. */
  coverage?: true | readonly string[];
  /** Folder of clips for the accuracy; default: bench/data. */
  data?: string;
  /** Set of recordings for the accuracy. */
  split: Split;
  /** Seed for everything random: orders of clips, conversations, rooms. */
  seed: number;
  /** Folders of the models to profile. */
  profile?: { whisper: string; diarization: string };
  peers: (typeof PEERS)[number][];
  /** Hours of audio per day to size for; requires `speed`. */
  load?: number;
  meanMinutes: number;
  save?: string;
  compare?: string;
  chart?: string;
  model: string;
  log: (line: string) => void;
}

/** Benchmarks this machine. Returns the figures and their tables; writes the files in `save` and `chart`. */
export async function bench(pool: Pool, options: BenchOptions): Promise<{ report: Report; text: string }> {
  const peers = options.peers.flatMap((name) => openPeer(name, pool.threads));
  const before: Report | null = options.compare ? JSON.parse(await readFile(options.compare, 'utf8')) : null;
  const folder = await mkdtemp(join(tmpdir(), 'longhand-bench-'));
  const report: Report = {
    machine: machine(),
    model: options.model,
    device: pool.device,
    threads: pool.threads,
    at: new Date().toISOString(),
  };
  try {
    const { log } = options;
    if (options.speed) {
      report.speed = await measureSpeed(pool, { minutes: options.minutes, files: options.files, folder, log });
      report.minutes_per_hour = report.speed.minutesPerHour;
      report.rtfx = report.speed.rtfx;
      report.peak_rss_mb = report.speed.peakMegabytes;
    }
    if (options.coverage)
      report.coverage = await measureCoverage(pool, { languages: options.coverage === true ? undefined : options.coverage, log });
    if (options.profile) report.profile = await measureProfile(options.profile);
    if (options.accuracy) {
      report.accuracy = await measureAccuracy(pool, {
        minutes: Math.min(20, options.minutes),
        conversations: 10,
        accurate: options.accurate,
        data: options.data,
        split: options.split,
        seed: options.seed,
        parts: options.accuracy === true ? undefined : options.accuracy,
        log,
      });
      report.set = options.split;
      report.seed = options.seed;
      report.wer = report.accuracy.joined?.rate;
      report.der = report.accuracy.conversations?.error;
    }
    if (peers.length) report.peers = await measurePeers(pool, peers, folder, options);
    if (options.load && report.speed) {
      const { minutesPerHour, peakMegabytes } = report.speed;
      const host = { cores: pool.threads, minutesPerHour: minutesPerHour.total, gib: Math.ceil(peakMegabytes / 1024 + 1) };
      const load = { hoursPerDay: options.load, meanMinutes: options.meanMinutes, busyHour: BUSY_HOUR };
      report.sizing = { load: `${options.load}h/day`, ...size(load, host) };
    }
    const text = [table(report)];
    if (before) text.push('', compare(report, before));
    if (options.save) await writeFile(options.save, `${JSON.stringify(report, null, 2)}\n`);
    if (options.chart) await writeFile(options.chart, chart(report));
    return { report, text: text.join('\n') };
  } finally {
    await rm(folder, { recursive: true });
  }
}

/**
 * Runs Longhand and every peer setting on the same joined speech in sequence, Longhand before and after each, because the speed of a
 * machine drifts. Longhand's result is the mean of its runs: which windows share a batch is random and changes a few words.
 */
async function measurePeers(pool: Pool, peers: Peer[], folder: string, { minutes, log }: BenchOptions): Promise<PeerRow[]> {
  const made = await joined(Math.min(20, minutes) * 60);
  const path = join(folder, 'peers.wav');
  await writeWav(path, made.samples);
  const truth = englishWords(made.said.map((s) => s.transcript).join(' '));
  const wrong = (text: string) => errorRate(countErrors(truth, englishWords(text)));
  const rows: PeerRow[] = [];
  const ours = async (accurate: boolean): Promise<Omit<PeerRow, 'ratio'>> => {
    log(`ours${accurate ? ', accurate' : ''}`);
    const { result, seconds } = await timed(() => transcript(path, pool, { language: 'en', diarize: false, accurate }));
    const name = accurate ? 'Longhand int8, accurate' : 'Longhand int8';
    return {
      name,
      minutesPerHour: minutesPerHour(seconds, result.durationSeconds),
      wordErrorRate: wrong(textOf(result)),
      peakMegabytes: peakMemory(),
    };
  };
  const runs = [await ours(false)];
  const beside = (row: Omit<PeerRow, 'ratio'>) => rows.push({ ...row, ratio: row.minutesPerHour / mean(runs.slice(-2), 'minutesPerHour') });
  const careful = await ours(true);
  runs.push(await ours(false));
  beside(careful);
  for (const peer of peers) {
    log(peer.name);
    const found = await peer.run(path, 'en');
    runs.push(await ours(false));
    const perHour = minutesPerHour(found.seconds, found.audio);
    beside({ name: peer.name, minutesPerHour: perHour, wordErrorRate: wrong(found.text), peakMegabytes: found.peak_rss_mb });
  }
  const all = { ...runs.at(-1)!, minutesPerHour: mean(runs, 'minutesPerHour'), wordErrorRate: mean(runs, 'wordErrorRate') };
  return [{ ...all, name: `${all.name}, mean of ${runs.length}`, ratio: 1 }, ...rows];
}

function mean(rows: readonly Omit<PeerRow, 'ratio'>[], of: 'minutesPerHour' | 'wordErrorRate'): number {
  return rows.reduce((sum, row) => sum + row[of], 0) / rows.length;
}

function machine(): string {
  return `${cpus()[0]?.model.trim() ?? 'unknown processor'}, ${availableParallelism()} cores, ${Math.round(totalmem() / 1024 ** 3)} GiB`;
}
