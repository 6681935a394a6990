import { decibels } from '../../loudness.ts';
import { SAMPLE_RATE } from '../../types.ts';

export const FRAME_SAMPLES = 480; // samples per loudness value: 30 ms
export const BLOCK_SAMPLES = 10 * SAMPLE_RATE; // samples read at once
export const MIN_FRAME_RMS = 1e-3; // RMS below which a frame is ignored (-60 dBFS)
const SAME_AUDIO_LOUDNESS_CORRELATION = 0.9; // correlation of loudness (dB) from which on two tracks are the same audio encoded twice
export const MAX_COPY_DELAY_FRAMES = 10; // between two copies: devices, codecs and containers delay by up to 0.3 s
const DELAYED_FRAMES = { least: 2, most: 100 }; // of a delayed copy: 60 ms, from which on a mix of both echoes, to 3 s
const LIKE_FRAMES = { near: 100, far: 150, from: 34 }; // of sound: 3 s, or 4.5 s where the delay is a second or more; in less two people may be as loud by chance

/** Whether two tracks are the same audio encoded twice, by their loudness in dB for each frame. */
export function isCopy(a: Float32Array, b: Float32Array): boolean {
  for (let delay = -MAX_COPY_DELAY_FRAMES; delay <= MAX_COPY_DELAY_FRAMES; delay++)
    if (loudTogether(a, b, delay) >= SAME_AUDIO_LOUDNESS_CORRELATION) return true;
  return false;
}

/**
 * Whether b is a, but later. What repeats itself is late both ways, and does not tell. In 220 simulated calls of 5 to 11 s, two voices that take turns
 * correlated by 0.42 at most at a delay of more than a second, but by 0.74 where 3 s of sound were enough; a copy needs 0.9.
 */
export function isLater(a: Float32Array, b: Float32Array): boolean {
  const wanted = Math.max(SAME_AUDIO_LOUDNESS_CORRELATION, loudTogether(a, b));
  const follows = (first: Float32Array, second: Float32Array) => {
    for (let delay = DELAYED_FRAMES.least; delay <= DELAYED_FRAMES.most; delay++) {
      const sounding = delay < LIKE_FRAMES.from ? LIKE_FRAMES.near : LIKE_FRAMES.far;
      if (loudTogether(first, second, delay, sounding) > wanted) return true;
    }
    return false;
  };
  return follows(a, b) && !follows(b, a);
}

/** Correlation of two loudnesses where either has sound; 0 if that is in fewer frames than `least`. `delay`: frames by which b is later. */
export function loudTogether(a: Float32Array, b: Float32Array, delay = 0, least = 1): number {
  const quiet = decibels(MIN_FRAME_RMS * MIN_FRAME_RMS);
  let [n, sumA, sumB, aa, bb, ab] = [0, 0, 0, 0, 0, 0];
  for (let i = Math.max(0, -delay); i < Math.min(a.length, a.length - delay); i++) {
    const [x, y] = [a[i]! - quiet, b[i + delay]! - quiet];
    if ((x <= 0 && y <= 0) || (delay && blockOf(i) !== blockOf(i + delay))) continue;
    n++;
    sumA += x;
    sumB += y;
    aa += x * x;
    bb += y * y;
    ab += x * y;
  }
  if (n < least) return 0;
  return (ab - (sumA * sumB) / n) / Math.sqrt((aa - sumA ** 2 / n) * (bb - sumB ** 2 / n) || 1);
}

/** The block that a frame is from; the next one may be from much later. */
function blockOf(frame: number): number {
  return Math.floor((frame * FRAME_SAMPLES) / (BLOCK_SAMPLES - (BLOCK_SAMPLES % FRAME_SAMPLES)));
}
