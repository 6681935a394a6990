import { WEIGHTS } from './attention-store.ts';

const MEDIAN_HALF_WIDTH = 3; // half width of the median filter, 7 frames

/**
 * The frame at which each token begins, increasing.
 *
 * Weights are normalised to sum 1 per token, standardised over the tokens, averaged over the heads and smoothed with a median of 7 frames;
 * then dynamic time warping in which every frame belongs to the previous frame's token or the next one (openai/whisper, timing.py).
 * @param rows attention of each token as stored by `AttentionStore`, [heads x allFrames] each
 * @param frames the frames to align: those with speech, increasing
 */
export function beginnings(rows: readonly Uint8Array[], heads: number, frames: Int32Array): Int32Array {
  const tokens = rows.length;
  const count = frames.length;
  if (count < Math.max(tokens, 4)) return Int32Array.from(rows, (_, i) => Math.floor((i * count) / tokens));
  const { total, spare, came } = roomFor(tokens * count);
  standardised(rows, heads, frames, total, spare);
  smoothed(total, tokens, count, spare);
  return path(spare, tokens, count, came);
}

let memory = new ArrayBuffer(0); // per thread, as large as its largest window: allocating megabytes per window would burden the garbage collector

/** Memory for matrices of this size; contents are preserved. */
function roomFor(size: number): { total: Float32Array; spare: Float32Array; came: Uint8Array } {
  const bytes = size * Float32Array.BYTES_PER_ELEMENT;
  if (memory.byteLength < 2 * bytes + size) memory = new ArrayBuffer(2 * bytes + size);
  return {
    total: new Float32Array(memory, 0, size),
    spare: new Float32Array(memory, bytes, size),
    came: new Uint8Array(memory, 2 * bytes, size),
  };
}

/** Mean over the heads of the standardised weights, into `total` [tokens x frames]; `weights` is scratch space. */
function standardised(rows: readonly Uint8Array[], heads: number, frames: Int32Array, total: Float32Array, weights: Float32Array): void {
  const tokens = rows.length;
  const count = frames.length;
  const all = rows[0]!.length / heads;
  const mean = new Float32Array(count);
  const square = new Float32Array(count);
  const given = new Float32Array(count); // of one token and head
  total.fill(0);
  for (let head = 0; head < heads; head++) {
    mean.fill(0);
    square.fill(0);
    for (let t = 0; t < tokens; t++) {
      const row = rows[t]!;
      const from = head * all;
      const to = t * count;
      let sum = 0;
      for (let f = 0; f < count; f++) {
        const weight = WEIGHTS[row[from + frames[f]!]!]!;
        given[f] = weight;
        sum += weight;
      }
      const scale = 1 / Math.max(sum, 1e-9);
      for (let f = 0; f < count; f++) {
        const weight = given[f]! * scale;
        weights[to + f] = weight;
        mean[f]! += weight;
        square[f]! += weight * weight;
      }
    }
    for (let f = 0; f < count; f++) {
      mean[f]! /= tokens;
      square[f] = 1 / (heads * Math.max(Math.sqrt(Math.max(0, square[f]! / tokens - mean[f]! * mean[f]!)), 1e-9));
    }
    for (let t = 0, at = 0; t < tokens; t++) {
      for (let f = 0; f < count; f++, at++) total[at]! += (weights[at]! - mean[f]!) * square[f]!;
    }
  }
}

/** Median over 7 frames of every row, mirrored at its ends, into `out`. */
function smoothed(gain: Float32Array, tokens: number, frames: number, out: Float32Array): void {
  const row = new Float32Array(frames + 2 * MEDIAN_HALF_WIDTH);
  for (let t = 0; t < tokens; t++) {
    row.set(gain.subarray(t * frames, (t + 1) * frames), MEDIAN_HALF_WIDTH);
    for (let k = 1; k <= MEDIAN_HALF_WIDTH; k++) {
      row[MEDIAN_HALF_WIDTH - k] = row[MEDIAN_HALF_WIDTH + k]!;
      row[MEDIAN_HALF_WIDTH + frames - 1 + k] = row[MEDIAN_HALF_WIDTH + frames - 1 - k]!;
    }
    medians(row, out.subarray(t * frames, (t + 1) * frames));
  }
}

/** Running median of 7 values. The seven are kept sorted: one leaves, one is inserted. */
function medians(row: Float32Array, out: Float32Array): void {
  const seven = row.slice(0, 2 * MEDIAN_HALF_WIDTH + 1).sort();
  out[0] = seven[MEDIAN_HALF_WIDTH]!;
  for (let f = 1; f < out.length; f++) {
    const gone = row[f - 1]!;
    const come = row[f + 2 * MEDIAN_HALF_WIDTH]!;
    let i = 0;
    while (i < 2 * MEDIAN_HALF_WIDTH && seven[i] !== gone) i++;
    for (; i < 2 * MEDIAN_HALF_WIDTH && seven[i + 1]! < come; i++) seven[i] = seven[i + 1]!;
    for (; i > 0 && seven[i - 1]! > come; i--) seven[i] = seven[i - 1]!;
    seven[i] = come;
    out[f] = seven[MEDIAN_HALF_WIDTH]!;
  }
}

/**
 * The best path through [tokens x frames] from the first token to the last: where each token begins. `came` [tokens x frames] is scratch
 * space for the steps.
 */
function path(gain: Float32Array, tokens: number, frames: number, came: Uint8Array): Int32Array {
  const best = new Float64Array(tokens).fill(Number.NEGATIVE_INFINITY);
  came.fill(0); // 1: from the previous token
  best[0] = 0;
  for (let f = 0; f < frames; f++) {
    for (let t = Math.min(tokens - 1, f); t >= 0; t--) {
      const stepped = t > 0 && f > 0 ? best[t - 1]! : Number.NEGATIVE_INFINITY;
      if (stepped > best[t]!) {
        came[t * frames + f] = 1;
        best[t] = stepped;
      }
      best[t]! += gain[t * frames + f]!;
    }
  }
  const begin = new Int32Array(tokens);
  for (let f = frames - 1, t = tokens - 1; f > 0 && t > 0; f--) if (came[t * frames + f]) begin[t--] = f;
  return begin;
}
