import { type Recording, SAMPLE_RATE, type Surround } from '../../types.ts';
import { centred } from './leak.ts';

const BLOCK_SAMPLES = 10 * SAMPLE_RATE; // samples read at once
const MAX_BLOCKS = 60; // spread over the recording
const FRAME_SAMPLES = 480; // 30 ms
const MIN_FRAME_POWER = 1e-6; // of the centre, below which a frame is ignored (-60 dBFS)
const DOMINANT = 4; // power of the centre, relative to left or right, from which on it is what can be heard of both (6 dB)
const MIN_CENTRE_CORRELATION = 0.1; // of left and right with it there, if they have some of it; as for a leak
const FAR_LOUDER = 25; // power of left or right, relative to the centre, from which on it is what can be heard in the centre, if anything (14 dB)
const LEAK = { correlation: 0.3, alone: 0.5 }; // of a voice in the centre, and share of its power where the other side is not as loud; of simulated people 0.5 and 0.9
const MAX_LOW_CHANGE = 0.01; // power of the differences of samples relative to that of the samples; 300 Hz has 0.014, speech more

/**
 * Channels that are one programme: a film or broadcast, with dialogue in the centre. Six channels of six parties are often declared as 5.1
 * by programs that only count them; so a declared layout counts if left and right have some of the centre, no voice on either side
 * leaks into the centre's microphone, and the channel of low frequencies has no speech.
 */
export async function programmesOf(recording: Recording, audible: readonly number[], signal?: AbortSignal): Promise<(readonly number[])[]> {
  const found: (readonly number[])[] = [];
  for (const surround of recording.surround ?? []) {
    if (surround.film || (await isMixed(recording, surround, audible, signal))) found.push(surround.channels);
  }
  return found;
}

async function isMixed(recording: Recording, { channels }: Surround, audible: readonly number[], signal?: AbortSignal): Promise<boolean> {
  const blocks = Math.ceil((await recording.decoded) / BLOCK_SAMPLES);
  const into = [new Correlation(), new Correlation()]; // of the centre into left and right
  const from = [new Correlation(), new Correlation()]; // of left or right alone into the centre
  const loud = [0, 0]; // power of left and right where they are far louder than the centre
  let [low, change] = [0, 0];
  for (let block = 0; block < blocks; block += Math.max(1, blocks / MAX_BLOCKS)) {
    signal?.throwIfAborted();
    const start = Math.floor(block) * BLOCK_SAMPLES;
    const read = channels.slice(0, 4).map((channel) => recording.read(channel, start, start + BLOCK_SAMPLES));
    const [left, right, centre, effects] = (await Promise.all(read)).map(centred);
    for (let at = 0; at + FRAME_SAMPLES <= centre!.length; at += FRAME_SAMPLES) {
      const power = product(centre!, centre!, at);
      const both = [product(left!, left!, at), product(right!, right!, at)];
      for (const [i, side] of [left!, right!].entries()) {
        const own = both[i]!;
        if (Math.max(own, power) < MIN_FRAME_POWER * FRAME_SAMPLES) continue;
        if (DOMINANT * own <= power) into[i]!.add(product(side, centre!, at), own, power);
        if (own < FAR_LOUDER * power) continue;
        loud[i]! += own;
        if (own >= DOMINANT * both[1 - i]!) from[i]!.add(product(side, centre!, at), own, power);
      }
    }
    for (let i = 1; i < effects!.length; i++) {
      low += effects![i]! ** 2;
      change += (effects![i]! - effects![i - 1]!) ** 2;
    }
  }
  const hasCentre = into.every(({ value }) => value >= MIN_CENTRE_CORRELATION);
  const leaks = from.some(({ value, own }, i) => value >= LEAK.correlation && own >= LEAK.alone * loud[i]!);
  return hasCentre && !leaks && (change <= MAX_LOW_CHANGE * low || !audible.includes(channels[3]!));
}

/** Correlation of two channels over some frames. */
class Correlation {
  own = 0; // power of the first one
  #common = 0;
  #other = 0;

  add(common: number, own: number, other: number): void {
    this.#common += common;
    this.own += own;
    this.#other += other;
  }

  get value(): number {
    return this.#common / Math.sqrt(this.own * this.#other || 1);
  }
}

function product(a: Float32Array, b: Float32Array, at: number): number {
  let sum = 0;
  for (let i = at; i < at + FRAME_SAMPLES; i++) sum += a[i]! * b[i]!;
  return sum;
}
