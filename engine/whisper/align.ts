const HALF = 3; // of the median filter, 7 frames wide

/**
 * The frame at which each token begins, rising with every token.
 *
 * Weights are scaled to sum 1 per token, standardised over the tokens, averaged over the heads and smoothed with a median of 7 frames; then
 * dynamic time warping in which every frame belongs to the token of the frame before or to the next one (openai/whisper, timing.py).
 * @param rows attention of each token as bfloat16, [heads x allFrames] each
 * @param frames the frames to align: those with speech, rising
 */
export function beginnings(rows: readonly Uint16Array[], heads: number, frames: Int32Array): Int32Array {
  const tokens = rows.length;
  const count = frames.length;
  if (count < Math.max(tokens, 4)) return Int32Array.from(rows, (_, i) => Math.floor((i * count) / tokens));
  return path(smoothed(standardised(rows, heads, frames), tokens, count), tokens, count);
}

/** Mean over the heads of the standardised weights, [tokens x frames]. */
function standardised(rows: readonly Uint16Array[], heads: number, frames: Int32Array): Float32Array {
  const tokens = rows.length;
  const count = frames.length;
  const all = rows[0]!.length / heads;
  const total = new Float32Array(tokens * count);
  const weights = new Float32Array(tokens * count);
  const mean = new Float32Array(count);
  const square = new Float32Array(count);
  const given = new Float32Array(count); // of one token and head
  const bits = new Uint32Array(given.buffer);
  for (let head = 0; head < heads; head++) {
    mean.fill(0);
    square.fill(0);
    for (let t = 0; t < tokens; t++) {
      const row = rows[t]!;
      const from = head * all;
      const to = t * count;
      let sum = 0;
      for (let f = 0; f < count; f++) {
        bits[f] = row[from + frames[f]!]! << 16;
        sum += given[f]!;
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
  return total;
}

/** Median over 7 frames of every row, mirrored at its ends. */
function smoothed(gain: Float32Array, tokens: number, frames: number): Float32Array {
  const out = new Float32Array(gain.length);
  const row = new Float32Array(frames + 2 * HALF);
  for (let t = 0; t < tokens; t++) {
    row.set(gain.subarray(t * frames, (t + 1) * frames), HALF);
    for (let k = 1; k <= HALF; k++) {
      row[HALF - k] = row[HALF + k]!;
      row[HALF + frames - 1 + k] = row[HALF + frames - 1 - k]!;
    }
    medians(row, out.subarray(t * frames, (t + 1) * frames));
  }
  return out;
}

/** Median of each 7 values in a row. The seven stay in order: one goes, one comes and moves to its place. */
function medians(row: Float32Array, out: Float32Array): void {
  const seven = row.slice(0, 2 * HALF + 1).sort();
  out[0] = seven[HALF]!;
  for (let f = 1; f < out.length; f++) {
    const gone = row[f - 1]!;
    const come = row[f + 2 * HALF]!;
    let i = 0;
    while (i < 2 * HALF && seven[i] !== gone) i++;
    for (; i < 2 * HALF && seven[i + 1]! < come; i++) seven[i] = seven[i + 1]!;
    for (; i > 0 && seven[i - 1]! > come; i--) seven[i] = seven[i - 1]!;
    seven[i] = come;
    out[f] = seven[HALF]!;
  }
}

/** The best way through [tokens x frames] from the first token to the last: where each token begins. */
function path(gain: Float32Array, tokens: number, frames: number): Int32Array {
  const best = new Float64Array(tokens).fill(Number.NEGATIVE_INFINITY);
  const came = new Uint8Array(tokens * frames); // 1: from the token before
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
