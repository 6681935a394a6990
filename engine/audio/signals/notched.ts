import { type Recording, SAMPLE_RATE } from '../../types.ts';
import { BLOCK_SAMPLES, type Cleaning, cleaned } from './blocks.ts';
import { BUZZ_LINES, buzzes } from './buzz.ts';
import { isSuspect, steadyLines, WINDOW_SAMPLES } from './hum.ts';
import { OFFSET } from './offset.ts';

const WARM_UP_SAMPLES = 0.5 * SAMPLE_RATE; // in which the filters settle
const MOMENT_SAMPLES = 64; // 4 ms; divides where stretches begin, so that a sample does not depend on what is read with it
const HUM_HERTZ = 8; // width of a notch: voices lose little, and a line may drift by a hertz
const BUZZ_HERTZ = 16; // settles in half the time, since the buzz comes in bursts

/** Samples [start, end) with lines to remove, which may sound from `since` until `until`. */
interface Stretch {
  start: number;
  end: number;
  since: number;
  until: number;
  /** Frequencies, hertz. */
  lines: readonly number[];
  /** Width of the filters, hertz. */
  width: number;
}

/**
 * A recording without steady hum, whistles, the buzz of mobile telephones and a constant offset, as far as they are loud: they hide voices from
 * speech detection and recognition.
 */
export function withoutHum(recording: Recording): Recording {
  return cleaned(cleaned(cleaned(recording, OFFSET), HUM), BUZZ);
}

const remove: Cleaning<Stretch[]>['remove'] = async (samples, stretches, recording, channel, from) => {
  for (const stretch of stretches) {
    const [first, last] = [Math.max(from, stretch.start), Math.min(from + samples.length, stretch.end)];
    if (first < last) samples.set(await filtered(recording, channel, stretch, first, last), first - from);
  }
};

const HUM: Cleaning<Stretch[]> = {
  /** Little is read of a block without lines. */
  async find(read, start) {
    const end = start + BLOCK_SAMPLES;
    const last = end - WINDOW_SAMPLES;
    const places = [start, Math.round((start + last) / 2), last];
    const windows = await Promise.all(places.map((at) => read(at, at + WINDOW_SAMPLES)));
    const whole = windows.every(({ length }) => length === WINDOW_SAMPLES); // else the recording ends here
    const lines = whole && !isSuspect(windows) ? [] : steadyLines(await read(start, end));
    return lines.length ? [{ start, end, since: 0, until: Number.POSITIVE_INFINITY, lines, width: HUM_HERTZ }] : [];
  },
  remove,
};

const BUZZ: Cleaning<Stretch[]> = {
  async find(read, offset) {
    return buzzes(await read(offset, offset + BLOCK_SAMPLES)).map((span) => {
      const [start, end] = [offset + span.start, offset + span.end];
      return { start, end, since: start, until: end, lines: BUZZ_LINES, width: BUZZ_HERTZ };
    });
  },
  remove,
};

/**
 * Samples [from, to) of a stretch without its lines. Filters need time to settle and ring on: of the sound as it was, filtered forwards and filtered
 * backwards, each moment takes what has the least power.
 */
async function filtered(recording: Recording, channel: number | 'mix', stretch: Stretch, from: number, to: number): Promise<Float32Array> {
  const first = Math.max(stretch.since, Math.floor((from - WARM_UP_SAMPLES) / MOMENT_SAMPLES) * MOMENT_SAMPLES);
  const raw = await recording.read(channel, first, Math.min(stretch.until, to + WARM_UP_SAMPLES));
  const forwards = notch(raw.slice(), stretch);
  const backwards = notch(raw.slice().reverse(), stretch).reverse();
  const choices = [raw, forwards, backwards];
  const best = (moment: number) => {
    const at = Math.max(0, Math.min(moment, Math.ceil(raw.length / MOMENT_SAMPLES) - 1)) * MOMENT_SAMPLES;
    const powers = choices.map((samples) => powerOf(samples.subarray(at, at + MOMENT_SAMPLES)));
    return choices[powers.indexOf(Math.min(...powers))]!;
  };
  const result = new Float32Array(to - from);
  let moment = Math.floor((from - first) / MOMENT_SAMPLES - 0.5);
  let before = best(moment);
  for (let at = from - first; at < to - first; moment++) {
    const after = best(moment + 1);
    const middle = (moment + 0.5) * MOMENT_SAMPLES;
    for (; at < Math.min(to - first, middle + MOMENT_SAMPLES); at++) {
      const share = (at - middle) / MOMENT_SAMPLES;
      result[at - (from - first)] = (1 - share) * before[at]! + share * after[at]!;
    }
    before = after;
  }
  return result;
}

/** Second-order notch filters with a gain of 1 far from their frequencies, in place. */
function notch(samples: Float32Array, { lines, width }: Stretch): Float32Array {
  const r = 1 - (Math.PI * width) / SAMPLE_RATE; // radius of the poles
  for (const frequency of lines) {
    const c = 2 * Math.cos((2 * Math.PI * frequency) / SAMPLE_RATE);
    const gain = (1 + r * r) / 2;
    let [x1, x2, y1, y2] = [0, 0, 0, 0];
    for (let i = 0; i < samples.length; i++) {
      const x = samples[i]!;
      const y = gain * (x - c * x1 + x2) + r * c * y1 - r * r * y2;
      [x2, x1, y2, y1] = [x1, x, y1, y];
      samples[i] = y;
    }
  }
  return samples;
}

function powerOf(samples: Float32Array): number {
  let sum = 0;
  for (const x of samples) sum += x * x;
  return sum;
}
