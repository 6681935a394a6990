import { level, RATE } from './sound.ts';

const STEP = RATE / 100; // samples a frame
const BELOW = 35; // dB under the loud frames that is no speech in a clean clip …
const ABOVE = 8; // … and dB over the noise that is none in another: the hiss of a pause is not speech
const APART = 15; // dB that loud frames and the threshold lie apart at least: a clip without any pause is all speech
const CLICK = 5; // frames: a shorter burst is no speech
const PAUSE = 30; // frames: a shorter pause belongs to the speech, as in NIST's reference turns
const SHORTEST = 10; // frames

export interface TrueSpan {
  start: number;
  end: number;
}

/**
 * Where somebody speaks in a clip of one voice, from its energy alone, in seconds: frames of 10 ms at least 8 dB over the clip's own noise (its quietest
 * 20th) and at most 35 dB under its loud parts (its loudest 20th). Taken from the clip before it is mixed, filtered or covered by noise.
 */
export function speechSpans(samples: Float32Array): TrueSpan[] {
  const decibels = Array.from({ length: Math.floor(samples.length / STEP) }, (_, i) =>
    loudness(samples.subarray(i * STEP, (i + 1) * STEP)),
  );
  const ranked = decibels.toSorted((a, b) => a - b);
  const at = (part: number) => ranked[Math.floor(ranked.length * part)] ?? 0;
  const loud = at(0.95);
  const threshold = Math.max(loud - BELOW, Math.min(at(0.05) + ABOVE, loud - APART));
  const bursts = joinedRuns(runsOver(decibels, threshold), 0).filter(({ start, end }) => end - start >= CLICK);
  const spans = joinedRuns(bursts, PAUSE).filter(({ start, end }) => end - start >= SHORTEST);
  if (!spans.length) return [{ start: 0, end: samples.length / RATE }];
  return spans.map(({ start, end }) => ({ start: start / 100, end: end / 100 }));
}

function loudness(frame: Float32Array): number {
  return 20 * Math.log10(level(frame) + 1e-9);
}

/** One span for each frame over the threshold, in frames. */
function runsOver(decibels: readonly number[], threshold: number): TrueSpan[] {
  return decibels.flatMap((x, i) => (x >= threshold ? [{ start: i, end: i + 1 }] : []));
}

function joinedRuns(spans: readonly TrueSpan[], pause: number): TrueSpan[] {
  const out: TrueSpan[] = [];
  for (const span of spans) {
    const last = out.at(-1);
    if (last && span.start - last.end <= pause) last.end = span.end;
    else out.push({ ...span });
  }
  return out;
}
