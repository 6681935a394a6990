import { readFile, rm, writeFile } from 'node:fs/promises';
import type { Pool } from '../engine/runtime/pool.ts';
import { measureAccuracy, type Part } from './accuracy/accuracy.ts';
import { measureCoverage } from './accuracy/coverage.ts';
import { comparePrograms, measurePeers } from './peers/comparison.ts';
import { type InstalledModel, modelPrograms } from './peers/models.ts';
import { openPeer, type PEERS } from './peers/peers.ts';
import { speedChart } from './plot.ts';
import { provenance } from './provenance.ts';
import { checkClips, type Split } from './recordings/clips.ts';
import { chart, compare, type Report, table } from './report.ts';
import { scratchFolder } from './scratch.ts';
import { BUSY_HOUR, size } from './sizing.ts';
import { measureProfile } from './speed/profile.ts';
import { measureSpeed } from './speed/speed.ts';
import { checkTarget } from './targets.ts';

export interface BenchOptions {
  /** Length of the measured recordings, minutes. */
  minutes: number;
  /** Largest number of concurrent files. */
  files: number;
  accuracy: boolean | readonly Part[];
  /** Skip the measurement of speed; with `accuracy`, a gate for continuous integration. */
  speed: boolean;
  accurate: boolean;
  /** Languages in which one minute of synthetic speech is transcribed; true: all available ones. */
  coverage?: true | readonly string[];
  /** Folder of clips for measuring accuracy; default: bench/data. */
  data?: string;
  /** Set of recordings for measuring accuracy. */
  split: Split;
  /** Seed for everything random: orders, conversations, rooms, noises. */
  seed: number;
  /** Folders of the models to profile. */
  profile?: { whisper: string; diarization: string };
  peers: (typeof PEERS)[number][];
  /** Installed models to compare; the first is the reference for relative times. */
  models?: readonly InstalledModel[];
  /** Hours of audio per day to size for; requires `speed`. */
  load?: number;
  meanMinutes: number;
  save?: string;
  compare?: string;
  chart?: string;
  model: string;
  log: (line: string) => void;
}

interface Benched {
  report: Report;
  /** Its tables. */
  text: string;
  /** Reasons why files were not written or compared after all; the figures are complete. */
  problems: string[];
}

/** Benchmarks this machine, and writes the files in `save` and `chart`. Throws before measuring if these cannot be written. */
export async function bench(pool: Pool, options: BenchOptions): Promise<Benched> {
  for (const file of [options.save, options.chart]) if (file) await checkTarget(file);
  if (options.data) checkClips(options.data);
  const peers = options.peers.flatMap((name) => openPeer(name, pool.threads));
  const before = options.compare ? await readReport(options.compare) : null;
  const folder = scratchFolder('bench');
  const report: Report = {
    ...provenance(),
    model: options.model,
    device: pool.device,
    threads: pool.threads,
    ...(options.accurate && { accurate: true }),
    at: new Date().toISOString(),
  };
  try {
    if (options.speed) {
      report.speed = await measureSpeed(pool, { ...options, folder });
      report.minutes_per_hour = report.speed.minutesPerHour;
      report.rtfx = report.speed.rtfx;
      report.peak_rss_mb = report.speed.peakMegabytes;
    }
    if (options.coverage)
      report.coverage = await measureCoverage(pool, { ...options, languages: options.coverage === true ? undefined : options.coverage });
    if (options.profile) report.profile = await measureProfile(options.profile);
    if (options.accuracy) {
      report.accuracy = await measureAccuracy(pool, {
        ...options,
        minutes: Math.min(20, options.minutes),
        conversations: 10,
        parts: options.accuracy === true ? undefined : options.accuracy,
      });
      report.set = options.split;
      report.seed = options.seed;
      report.wer = report.accuracy.joined?.rate;
      report.der = report.accuracy.conversations?.error;
    }
    if (peers.length) report.peers = await measurePeers(pool, peers, folder, options);
    if (options.models?.length) {
      const [reference, ...others] = modelPrograms(options.models, { threads: pool.threads, device: pool.device }, options.accurate);
      report.models = await comparePrograms(reference!, others, folder, options);
    }
    if (options.load && report.speed) {
      const { minutesPerHour, peakMegabytes } = report.speed;
      const host = { cores: pool.threads, minutesPerHour: minutesPerHour.total, gib: Math.ceil(peakMegabytes / 1024 + 1) };
      const load = { hoursPerDay: options.load, meanMinutes: options.meanMinutes, busyHour: BUSY_HOUR };
      report.sizing = { load: `${options.load}h/day`, ...size(load, host) };
    }
    return { report, ...(await results(report, before, options)) };
  } finally {
    await rm(folder, { recursive: true });
  }
}

/** Reads saved figures. Throws if the file holds something else. */
async function readReport(file: string): Promise<Report> {
  const text = await readFile(file, 'utf8');
  try {
    const found: Report | null = JSON.parse(text);
    if (typeof found?.machine === 'string') return found;
  } catch {}
  throw new Error(`Cannot compare with ${file}: it has no figures; expected a file that bench --save wrote`);
}

/** Tables, comparison and files. A failure does not prevent the others. */
async function results(report: Report, before: Report | null, { save, chart: picture, compare: file }: BenchOptions) {
  const text = [table(report)];
  const problems: string[] = [];
  const attempt = async (what: string, work: () => unknown) => {
    try {
      await work();
    } catch (error) {
      problems.push(`${what}: ${(error as Error).message}`);
    }
  };
  if (save) await attempt(`Cannot save to ${save}`, () => writeFile(save, `${JSON.stringify(report, null, 2)}\n`));
  if (before) await attempt(`Cannot compare with ${file}`, () => text.push('', compare(report, before)));
  if (picture)
    await attempt(`Cannot save to ${picture}`, () =>
      writeFile(picture, report.models ? speedChart(report.machine, report.models) : chart(report)),
    );
  return { text: text.join('\n'), problems };
}
