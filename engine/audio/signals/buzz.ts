import { SAMPLE_RATE } from '../../types.ts';
import { windowedSpectrum } from './spectrum.ts';

const FRAME_HERTZ = 650 / 3; // a GSM telephone transmits in one slot of each frame; 26 frames take 120 ms (3GPP TS 45.002)
const WINDOW_SAMPLES = 4096; // 256 ms, 4 Hz a bin
const HOP_SAMPLES = 1024;
const GLANCE_SAMPLES = 1.3 * SAMPLE_RATE; // between the windows that are looked at before all of them are; bursts seldom repeat with this period
const HARMONICS = 34; // up to 7.4 kHz
const FIRST_TELLING = 6; // harmonics below are met by any voice that holds 217 Hz for a moment
const LINE_RATIO = 10; // power of a line relative to that between the lines: 10 dB
const NEAR_BINS = 8; // 31 Hz, in which nothing exceeds the line: a voice of 210 Hz is 40 Hz away at the sixth harmonic
const LEAST_LINES = 7; // of a telephone line's nine: its band ends below the 16th, and the 8th is not in the buzz
const LEAST_WINDOWS = 6; // in a row with that many, 0.3 s of buzz; voices that pass its pitch have one or two
const FAINT_LINES = 5; // in the windows beside those

/** Frequencies of the buzz, in hertz. */
export const BUZZ_LINES = Array.from({ length: 36 }, (_, i) => (i + 1) * FRAME_HERTZ);

/**
 * Where a block of samples has the buzz of a mobile telephone beside the microphone, which sounds in bursts while the telephone transmits. A voice
 * meets that many of its harmonics for a moment only. Samples, in order, apart.
 */
export function buzzes(samples: Float32Array): { start: number; end: number }[] {
  if (!maybeBuzzes(samples)) return [];
  const lines: number[] = [];
  for (let at = 0; at + WINDOW_SAMPLES <= samples.length; at += HOP_SAMPLES) lines.push(linesAt(samples, at));
  const found: { start: number; end: number; clear: number }[] = [];
  for (const [i, count] of lines.entries()) {
    if (count < FAINT_LINES) continue;
    const start = i * HOP_SAMPLES;
    const end = i === lines.length - 1 ? samples.length : start + WINDOW_SAMPLES;
    if (start > (found.at(-1)?.end ?? -1)) found.push({ start, end, clear: 0 });
    const last = found.at(-1)!;
    last.end = end;
    if (count >= LEAST_LINES) last.clear++;
  }
  return found.filter(({ clear }) => clear >= LEAST_WINDOWS).map(({ start, end }) => ({ start, end }));
}

/** Whether there may be a buzz: looks at one window in twenty. */
function maybeBuzzes(samples: Float32Array): boolean {
  for (let at = 0; at + WINDOW_SAMPLES <= samples.length; at += GLANCE_SAMPLES) {
    if (linesAt(samples, at) >= LEAST_LINES) return true;
  }
  return false;
}

/** How many of the telling harmonics stand out in the window that begins at `start`. */
function linesAt(samples: Float32Array, start: number): number {
  const power = windowedSpectrum(samples, start, WINDOW_SAMPLES);
  let count = 0;
  for (let k = FIRST_TELLING; k <= HARMONICS; k++) {
    const at = binOf(k);
    const line = highest(power, at - 1, at + 1);
    const between = (meanOf(power, k - 0.65, k - 0.35) + meanOf(power, k + 0.35, k + 0.65)) / 2;
    if (line > LINE_RATIO * between && line === highest(power, at - NEAR_BINS, at + NEAR_BINS)) count++;
  }
  return count;
}

/** The highest power from one bin to another. */
function highest(power: Float64Array, from: number, to: number): number {
  return Math.max(...power.subarray(from, to + 1));
}

/** Mean power between two multiples of the frame rate. */
function meanOf(power: Float64Array, from: number, to: number): number {
  const [first, end] = [binOf(from), binOf(to)];
  let sum = 1e-12;
  for (let k = first; k < end; k++) sum += power[k]!;
  return sum / (end - first);
}

function binOf(multiple: number): number {
  return Math.round((multiple * FRAME_HERTZ * WINDOW_SAMPLES) / SAMPLE_RATE);
}
