import type { Span } from '../../types.ts';
import { SAMPLE_RATE } from './model.ts';

/** Levels are taken every 10 ms; lengths below are in such steps, levels in dB. */
const STEP = SAMPLE_RATE / 100;
const RUMBLE = 150; // hertz: below it there is hum and knocks, of voices only the lowest overtone
const KEPT = 1 / (1 + (2 * Math.PI * RUMBLE) / SAMPLE_RATE); // by one of two simple filters

export const ABOVE = 8; // over the quiet around it is sound …
export const BELOW = 35; // … but nothing so far under the loud parts
export const APART = 15; // where quiet and loud are nearer to each other no pause can be heard
export const BURST = 3; // a shorter sound is a click
const AROUND = 100; // on either side is looked for what is loud and quiet there
const SOFT = 2; // on either side are averaged for what is quiet
const SILENCE = 30; // a shorter one belongs to the speech …
const MARGIN = 5; // … and so much of a longer one on either side

/** Loudness of every step above the rumble, dB of full scale. */
export function loudness(samples: Float32Array): Float32Array {
  const levels = new Float32Array(Math.floor(samples.length / STEP));
  let x = 0;
  let y = 0;
  let z = 0;
  for (let step = 0; step < levels.length; step++) {
    let sum = 0;
    for (let i = step * STEP; i < (step + 1) * STEP; i++) {
      const before = y;
      y = KEPT * (y + samples[i]! - x);
      z = KEPT * (z + y - before);
      x = samples[i]!;
      sum += z * z;
    }
    levels[step] = 10 * Math.log10(sum / STEP + 1e-12);
  }
  return levels;
}

/** Speech without the silences over which its detector ran: room noise between two sentences is speech to it, and words would be stretched over it. */
export function sounding(speech: readonly Span[], levels: Float32Array): Span[] {
  const quiet = levels.map((_, step) => mean(levels.subarray(Math.max(0, step - SOFT), step + SOFT + 1)));
  return speech.flatMap((span) => {
    const [from, to] = [Math.round(span.start * 100), Math.min(levels.length, Math.round(span.end * 100))];
    const sounds = bursts(levels, quiet, from, to);
    if (!sounds.length) return [span];
    const parts: Span[] = [];
    let { start } = span;
    let before = { start: from, end: from };
    for (const sound of [...sounds, { start: to, end: to }]) {
      if (sound.start - before.end >= SILENCE) {
        if (before.end > from) parts.push({ start, end: (before.end + MARGIN) / 100 });
        start = (sound.start - MARGIN) / 100;
      }
      before = sound;
    }
    if (to - sounds.at(-1)!.end < SILENCE) parts.push({ start, end: span.end });
    return parts;
  });
}

/** What sounds in [from, to), in steps: at least BURST long. */
function bursts(levels: Float32Array, quiet: Float32Array, from: number, to: number): Span[] {
  const threshold = thresholds(levels, quiet, from, to);
  const found: Span[] = [];
  let start = from;
  for (let step = from; step <= to; step++) {
    if (step < to && levels[step]! >= threshold[step - from]!) continue;
    if (step - start >= BURST) found.push({ start, end: step });
    start = step + 1;
  }
  return found;
}

/** The level from which each step of [from, to) is sound, by what is loud and quiet around it. `quiet`: levels averaged over SOFT steps on either side. */
function thresholds(levels: Float32Array, quiet: Float32Array, from: number, to: number): Float32Array {
  return Float32Array.from({ length: Math.max(0, to - from) }, (_, i) => {
    const [first, end] = [Math.max(0, from + i - AROUND), Math.min(levels.length, from + i + AROUND)];
    let [loudest, quietest] = [levels[from + i]!, quiet[from + i]!];
    for (let step = first; step < end; step++) {
      loudest = Math.max(loudest, levels[step]!);
      if (step >= from && step < to) quietest = Math.min(quietest, quiet[step]!);
    }
    return Math.max(loudest - BELOW, Math.min(quietest + ABOVE, loudest - APART));
  });
}

function mean(values: Float32Array): number {
  let sum = 0;
  for (const value of values) sum += value;
  return sum / values.length;
}
