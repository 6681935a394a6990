import type { Span } from '../types.ts';

/** Levels are computed every 10 ms; lengths below are in such steps, levels in dB. */
export const MIN_ABOVE_QUIET = 8; // above the quiet around it is sound
export const MAX_BELOW_LOUD = 35; // but not this far below the loud parts
export const MIN_CONTRAST = 15; // if quiet and loud are closer than this, pauses cannot be detected
export const MIN_SOUND_STEPS = 3; // shorter sounds are clicks
const CONTEXT_STEPS = 100; // steps on either side for estimating loud and quiet
const SMOOTHING_STEPS = 2; // steps on either side averaged for the quiet level
const MIN_SILENCE_STEPS = 30; // shorter silences belong to the speech
const MARGIN_STEPS = 5; // and this much of a longer one on either side

/**
 * Speech without the silences included by its detector: it takes room noise between two sentences for speech, and words would be stretched
 * over it.
 */
export function sounding(speech: readonly Span[], levels: Float32Array): Span[] {
  const quiet = levels.map((_, step) => mean(levels.subarray(Math.max(0, step - SMOOTHING_STEPS), step + SMOOTHING_STEPS + 1)));
  return speech.flatMap((span) => {
    const [from, to] = [Math.round(span.start * 100), Math.min(levels.length, Math.round(span.end * 100))];
    const sounds = bursts(levels, quiet, from, to);
    if (!sounds.length) return [span];
    const parts: Span[] = [];
    let { start } = span;
    let before = { start: from, end: from };
    for (const sound of [...sounds, { start: to, end: to }]) {
      if (sound.start - before.end >= MIN_SILENCE_STEPS) {
        if (before.end > from) parts.push({ start, end: (before.end + MARGIN_STEPS) / 100 });
        start = (sound.start - MARGIN_STEPS) / 100;
      }
      before = sound;
    }
    if (to - sounds.at(-1)!.end < MIN_SILENCE_STEPS) parts.push({ start, end: span.end });
    return parts;
  });
}

/** Sounds in [from, to), in steps: at least MIN_SOUND_STEPS long. */
function bursts(levels: Float32Array, quiet: Float32Array, from: number, to: number): Span[] {
  const threshold = thresholds(levels, quiet, from, to);
  const found: Span[] = [];
  let start = from;
  for (let step = from; step <= to; step++) {
    if (step < to && levels[step]! >= threshold[step - from]!) continue;
    if (step - start >= MIN_SOUND_STEPS) found.push({ start, end: step });
    start = step + 1;
  }
  return found;
}

/**
 * The level from which each step of [from, to) counts as sound, relative to loud and quiet around it. `quiet`: levels averaged over SMOOTHING_STEPS
 * steps on either side.
 */
function thresholds(levels: Float32Array, quiet: Float32Array, from: number, to: number): Float32Array {
  return Float32Array.from({ length: Math.max(0, to - from) }, (_, i) => {
    const [first, end] = [Math.max(0, from + i - CONTEXT_STEPS), Math.min(levels.length, from + i + CONTEXT_STEPS)];
    let [loudest, quietest] = [levels[from + i]!, quiet[from + i]!];
    for (let step = first; step < end; step++) {
      loudest = Math.max(loudest, levels[step]!);
      if (step >= from && step < to) quietest = Math.min(quietest, quiet[step]!);
    }
    return Math.max(loudest - MAX_BELOW_LOUD, Math.min(quietest + MIN_ABOVE_QUIET, loudest - MIN_CONTRAST));
  });
}

function mean(values: Float32Array): number {
  let sum = 0;
  for (const value of values) sum += value;
  return sum / values.length;
}
