import { type Recording, SAMPLE_RATE, type Span } from '../../types.ts';

/** How one party's voice leaks into the other's channel: through the line, or from an earpiece into the microphone. */
export interface Leak {
  from: number;
  to: number;
  /** Impulse response for samples of `from`: [TAPS] gains, the first of them `delay` samples later. */
  delay: number;
  gains: Float64Array;
}

const MIN_DELAY_SAMPLES = -0.01 * SAMPLE_RATE; // of a leaking voice: recorders may start a channel slightly later
const MAX_DELAY_SAMPLES = 0.08 * SAMPLE_RATE; // of a leaking voice: line echo
const TAPS = 64; // length of the impulse response, samples: 4 ms, most of an earpiece's response
const LEAD_TAPS = 12; // taps before the strongest one
export const MIN_SPEECH_SECONDS = 2; // of speech, needed for an estimate
const MAX_SPEECH_SAMPLES = 30 * SAMPLE_RATE; // of speech, used for an estimate
const DELAY_SEARCH_SAMPLES = 5 * SAMPLE_RATE; // of speech, used to find the delay
const MIN_LEAK_CORRELATION = 0.1; // from which on it is a leak; over several seconds two voices reach 0.03
const REGULARIZATION = 1e-3; // share of the power added to the diagonal, so that no gain is invented in bands without sound

/**
 * Estimates the leak from one channel into the other, from spans in which one party speaks and the other channel is quieter: the linear
 * filter that minimizes the squared residual. Null if the other channel contains none of it, undefined if there is too little speech to tell.
 */
export async function leakOf(recording: Recording, from: number, to: number, spoken: readonly Span[]): Promise<Leak | null | undefined> {
  const parts: Stretch[] = [];
  let samples = 0;
  for (const span of spread(spoken)) {
    if (samples >= MAX_SPEECH_SAMPLES) break;
    const part = await stretch(recording, from, to, span);
    parts.push(part);
    samples += part.heard.length;
  }
  if (samples < MIN_SPEECH_SECONDS * SAMPLE_RATE) return undefined;
  const strongest = delayOf(parts);
  if (strongest === null) return null;
  const delay = Math.max(MIN_DELAY_SAMPLES, strongest - LEAD_TAPS);
  const own = new Float64Array(TAPS);
  const common = new Float64Array(TAPS);
  for (const part of parts) {
    for (let k = 0; k < TAPS; k++) {
      own[k]! += product(part.source, part.source, part.first, part.first - k, part.heard.length);
      common[k]! += product(part.heard, part.source, 0, part.first - delay - k, part.heard.length);
    }
  }
  own[0]! *= 1 + REGULARIZATION;
  return { from, to, delay, gains: solve(own, common) };
}

/** Share of a channel's power in a span that leaked from the other one: 0 to 1; below 0 if they are unrelated. */
export async function leaked(recording: Recording, { from, to, delay, gains }: Leak, span: Span): Promise<number> {
  const { heard, source, first } = await stretch(recording, from, to, span);
  let [all, left] = [1e-12, 0];
  for (let n = 0; n < heard.length; n++) {
    let rest = heard[n]!;
    for (let k = 0, at = first + n - delay; k < TAPS; k++, at--) rest -= gains[k]! * source[at]!;
    all += heard[n]! ** 2;
    left += rest ** 2;
  }
  return 1 - left / all;
}

interface Stretch {
  heard: Float32Array;
  /** The other channel, starting MAX_DELAY_SAMPLES + TAPS samples earlier; `source[first]` is simultaneous with `heard[0]`. */
  source: Float32Array;
  first: number;
}

async function stretch(recording: Recording, from: number, to: number, { start, end }: Span): Promise<Stretch> {
  const [begin, stop] = [Math.round(start * SAMPLE_RATE), Math.round(Math.max(end, start + 0.05) * SAMPLE_RATE)];
  const heard = centred(await recording.read(to, begin, stop));
  const first = MAX_DELAY_SAMPLES + TAPS;
  const before = Math.min(begin, first);
  const read = centred(await recording.read(from, begin - before, stop - MIN_DELAY_SAMPLES));
  const source = new Float32Array(first + heard.length - MIN_DELAY_SAMPLES); // zeros outside the recording
  source.set(read.subarray(0, source.length - first + before), first - before);
  return { heard, source, first };
}

/** Removes the DC offset of cheap sound cards, in place: it is not sound, yet correlates two channels. */
export function centred(samples: Float32Array): Float32Array {
  const mean = samples.reduce((sum, x) => sum + x, 0) / samples.length;
  for (let i = 0; i < samples.length; i++) samples[i]! -= mean;
  return samples;
}

/** At most a few hundred spans, evenly from the whole recording. */
function spread(spans: readonly Span[]): Span[] {
  const stride = Math.max(1, Math.floor(spans.length / 200));
  return spans.filter((_, i) => i % stride === 0);
}

/** The delay with the highest correlation between the channels, or null. */
function delayOf(parts: readonly Stretch[]): number | null {
  const sums = new Float64Array(MAX_DELAY_SAMPLES - MIN_DELAY_SAMPLES);
  let [own, other, samples] = [0, 0, 0];
  for (const { heard, source, first } of parts) {
    if (samples >= DELAY_SEARCH_SAMPLES) break;
    samples += heard.length;
    own += product(heard, heard, 0, 0, heard.length);
    other += product(source, source, first, first, heard.length);
    for (let d = 0; d < sums.length; d++) sums[d]! += product(heard, source, 0, first - MIN_DELAY_SAMPLES - d, heard.length);
  }
  let best = 0;
  for (let d = 1; d < sums.length; d++) if (Math.abs(sums[d]!) > Math.abs(sums[best]!)) best = d;
  return Math.abs(sums[best]!) >= MIN_LEAK_CORRELATION * Math.sqrt(own * other || 1) ? best + MIN_DELAY_SAMPLES : null;
}

function product(a: Float32Array, b: Float32Array, fromA: number, fromB: number, count: number): number {
  let sum = 0;
  for (let i = 0; i < count; i++) sum += a[fromA + i]! * b[fromB + i]!;
  return sum;
}

/** Solves the symmetric Toeplitz system of `row` for `right` (Levinson recursion). */
function solve(row: Float64Array, right: Float64Array): Float64Array {
  const n = row.length;
  const found = new Float64Array(n);
  let backward = new Float64Array(n); // solution of the leading block for the last unit vector
  if (!row[0]) return found;
  backward[0] = 1 / row[0];
  found[0] = right[0]! / row[0];
  for (let m = 1; m < n; m++) {
    let [error, short] = [0, 0];
    for (let i = 0; i < m; i++) {
      error += row[i + 1]! * backward[i]!;
      short += row[m - i]! * found[i]!;
    }
    const scale = 1 / (1 - error * error);
    const next = new Float64Array(n);
    for (let i = 0; i <= m; i++) next[i] = scale * ((i > 0 ? backward[i - 1]! : 0) - error * (i < m ? backward[m - 1 - i]! : 0));
    backward = next;
    for (let i = 0; i <= m; i++) found[i]! += (right[m]! - short) * backward[i]!;
  }
  return found;
}
