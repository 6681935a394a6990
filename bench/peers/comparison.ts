import { join } from 'node:path';
import type { Pool } from '../../engine/runtime/pool.ts';
import type { AccuracyOptions, Rate } from '../accuracy/measures.ts';
import { rated } from '../accuracy/word-errors.ts';
import { errorsOfRuns, longestGap } from '../errors/align.ts';
import { differenceInterval } from '../errors/bootstrap.ts';
import { addErrors, type Errors, englishWords, NO_ERRORS } from '../errors/normalise.ts';
import { joined } from '../recordings/conversations.ts';
import { writeWav } from '../recordings/sound.ts';
import { minutesPerHour, peakMemory, textOf, timed, transcript } from '../speed/measure.ts';
import type { Peer, PeerResult } from './peers.ts';

const ORDERS = 2; // of the same clips: the division into windows changes the WER by about one percentage point
const MOST_MINUTES = 20; // of joined speech

/** One program in one setting, over all orders. */
export interface PeerRow {
  name: string;
  /** Versions of the program and its runtime; null for Longhand, whose versions are in the report. */
  version: string | null;
  /** Mean, and range over the runs. */
  minutesPerHour: number;
  range: [least: number, most: number];
  wordErrorRate: Rate;
  /** The reference's word error rate subtracted from it, with its 95 % interval; absent for the reference, and in earlier reports. */
  difference?: { rate: number; interval: [low: number, high: number] };
  /** Longest run of deleted words. */
  gap: number;
  peakMegabytes: number;
  /** Relative time: the mean over the orders of its time divided by the mean of the reference's before and after it. */
  ratio: number;
}

type Options = Pick<AccuracyOptions, 'minutes' | 'split' | 'seed' | 'data' | 'log'>;

interface Order {
  path: string;
  /** Words of each clip, in order, and its transcript, by which its occurrences are grouped. */
  runs: { transcript: string; words: string[] }[];
}

/** Compares Longhand, fast and accurate, with other programs. */
export function measurePeers(pool: Pool, peers: readonly Peer[], folder: string, options: Options): Promise<PeerRow[]> {
  return comparePrograms(longhand(pool, 'Longhand'), [longhand(pool, 'Longhand, accurate', true), ...peers], folder, options);
}

/**
 * Runs every program on the same joined English speech in several orders, one after another, the reference before and after each of the
 * others, because the speed of a machine drifts. The reference is averaged over all its runs, and its errors are counted once per order.
 */
export async function comparePrograms(reference: Peer, others: readonly Peer[], folder: string, options: Options): Promise<PeerRow[]> {
  const own = new Tally(reference.name);
  const tallies = others.map(({ name }) => new Tally(name));
  for (let i = 0; i < ORDERS; i++) {
    const order = await makeOrder(i, folder, options);
    const run = async (program: Peer, tally: Tally, counted = true) => {
      const time = tally.add(order, await program.run(order.path, 'en'), counted);
      options.log(`${program.name}, order ${i + 1} of ${ORDERS}: ${time.toFixed(2)} min/h`);
      return time;
    };
    let before = await run(reference, own);
    for (const [p, program] of others.entries()) {
      const time = await run(program, tallies[p]!);
      const after = await run(reference, own, false);
      tallies[p]!.ratios.push((2 * time) / (before + after));
      before = after;
    }
  }
  return [own.row(), ...tallies.map((tally) => ({ ...tally.row(), difference: tally.differenceFrom(own) }))];
}

async function makeOrder(i: number, folder: string, { minutes, seed, split, data }: Options): Promise<Order> {
  const made = await joined(Math.min(MOST_MINUTES, minutes) * 60, { seed: seed + i, split, data });
  const path = join(folder, `joined-${i}.wav`);
  await writeWav(path, made.samples);
  return { path, runs: made.said.map(({ transcript }) => ({ transcript, words: englishWords(transcript) })) };
}

/** Longhand as one of the programs. */
export function longhand(pool: Pool, name: string, accurate = false): Peer {
  return {
    name,
    async run(file, language) {
      const { result, seconds } = await timed(() => transcript(file, pool, { language, diarize: false, accurate }));
      return { version: null, seconds, audio: result.durationSeconds, text: textOf(result), peak_rss_mb: peakMemory() };
    },
  };
}

/** The runs of one program. */
class Tally {
  readonly ratios: number[] = [];
  readonly #name: string;
  readonly #times: number[] = [];
  readonly #errors = new Map<string, Errors>();
  #gap = 0;
  #peak = 0;
  #version: string | null = null;

  constructor(name: string) {
    this.#name = name;
  }

  /** Returns minutes of processing per hour of audio. */
  add({ runs }: Order, { seconds, audio, text, peak_rss_mb, version }: PeerResult, counted: boolean): number {
    const time = minutesPerHour(seconds, audio);
    this.#times.push(time);
    this.#peak = Math.max(this.#peak, peak_rss_mb);
    this.#version = version;
    if (!counted) return time;
    const [words, heard] = [runs.map((run) => run.words), englishWords(text)];
    for (const [i, errors] of errorsOfRuns(words, heard).entries()) {
      const { transcript } = runs[i]!;
      this.#errors.set(transcript, addErrors(this.#errors.get(transcript) ?? NO_ERRORS, errors));
    }
    this.#gap = Math.max(this.#gap, longestGap(words.flat(), heard));
    return time;
  }

  /** Of the word error rates, recording by recording. */
  differenceFrom(reference: Tally): PeerRow['difference'] {
    const pairs = [...this.#errors].map(([transcript, errors]) => [reference.#errors.get(transcript)!, errors] as const);
    return { rate: this.row().wordErrorRate.rate - reference.row().wordErrorRate.rate, interval: differenceInterval(pairs) };
  }

  row(): PeerRow {
    return {
      name: this.#name,
      version: this.#version,
      minutesPerHour: mean(this.#times),
      range: [Math.min(...this.#times), Math.max(...this.#times)],
      wordErrorRate: rated([...this.#errors.values()]),
      gap: this.#gap,
      peakMegabytes: this.#peak,
      ratio: this.ratios.length ? mean(this.ratios) : 1,
    };
  }
}

function mean(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}
