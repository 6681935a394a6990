/** Kernels that convert checkpoint matrices [N x K] (one row per output channel) for the graphs. All row-major. */

const TILE = 64; // tile of rows and columns to transpose: both sides stay in the cache
const PEAK = 127;
const PAIR = 128; // limit for the sum of two neighbours: times a byte, it fits into the 16-bit sums of CPUs without 8-bit dot products
const HALF_EVEN = 6755399441055744; // 1.5 * 2^52: adding and subtracting it rounds a double to the nearest integer, ties to even

export interface Quantised {
  /** int8, transposed: [K x N]. */
  values: Int8Array;
  /** One scale per output channel: weight = value * scale. */
  scales: Float32Array;
}

/**
 * Quantises to signed int8 per output channel, symmetric, within ±127.
 * @param saturates for CPUs without 8-bit dot products, which first add the products of inputs 2i and 2i + 1 in 16 bits: keeps the sum of
 * both weights within ±128. The step grows by 25 %; limiting each weight to ±63, which is safe too, would double it.
 */
export function quantise(weights: Float32Array, rows: number, columns: number, saturates: boolean): Quantised {
  const scales = new Float32Array(rows);
  for (let n = 0; n < rows; n++) {
    const row = weights.subarray(n * columns, (n + 1) * columns);
    let top = Math.fround(1e-8);
    let pair = 0;
    for (let k = 0; k < columns; k++) {
      const size = Math.abs(row[k]!);
      if (size > top) top = size;
      if (!saturates || k % 2 === 0) continue;
      const sum = Math.abs(row[k - 1]! + row[k]!);
      if (sum > pair) pair = sum;
    }
    scales[n] = Math.max(top / PEAK, saturates ? pairSteps(pair) : 0);
  }
  const values = new Int8Array(weights.length);
  tiles(rows, columns, (n, k0, k1) => {
    const scale = scales[n]!;
    for (let k = k0, i = n * columns + k0; k < k1; k++, i++) {
      const steps = Math.fround(weights[i]! / scale) + HALF_EVEN - HALF_EVEN;
      values[k * rows + n] = Math.max(-PEAK, Math.min(PEAK, steps));
    }
  });
  return { values, scales };
}

/**
 * Converts a matrix [K x N] of `quantise` that may saturate into one that does not, in place. Returns the factors on the channels' scales,
 * [N].
 */
export function withoutSaturation(values: Int8Array, rows: number): Float32Array {
  const pairs = new Float32Array(rows);
  for (let i = 0; i + rows < values.length; i += 2 * rows) {
    for (let n = 0; n < rows; n++) pairs[n] = Math.max(pairs[n]!, Math.abs(values[i + n]! + values[i + rows + n]!));
  }
  const growth = pairs.map((pair) => Math.max(1, pairSteps(pair)));
  for (let i = 0; i < values.length; i++) values[i] = Math.round(values[i]! / growth[i % rows]!);
  return growth;
}

/** The smallest step with which the sum of two rounded neighbours stays within PAIR. */
function pairSteps(sum: number): number {
  return sum / (PAIR - 0.5);
}

/** [N x K] -> [K x N]. */
export function transpose(weights: Float32Array, rows: number, columns: number): Float32Array {
  const out = new Float32Array(weights.length);
  tiles(rows, columns, (n, k0, k1) => {
    for (let k = k0, i = n * columns + k0; k < k1; k++, i++) out[k * rows + n] = weights[i]!;
  });
  return out;
}

/** float32 to IEEE half precision bits, to nearest, ties to even; overflow becomes the largest half. */
export function toFloat16(values: Float32Array): Uint16Array {
  const bits = new Uint32Array(values.buffer, values.byteOffset, values.length);
  const out = new Uint16Array(values.length);
  for (let i = 0; i < out.length; i++) {
    const sign = (bits[i]! >>> 16) & 0x8000;
    const size = bits[i]! & 0x7fffffff;
    if (size >= 0x477ff000) out[i] = sign | (size > 0x7f800000 ? 0x7e00 : 0x7bff);
    else if (size >= 0x38800000) out[i] = sign | ((size - 0x38000000 + 0xfff + ((size >>> 13) & 1)) >>> 13);
    else out[i] = sign | (Math.abs(values[i]!) * 2 ** 24 + HALF_EVEN - HALF_EVEN);
  }
  return out;
}

function tiles(rows: number, columns: number, visit: (row: number, from: number, to: number) => void): void {
  for (let n0 = 0; n0 < rows; n0 += TILE) {
    for (let k0 = 0; k0 < columns; k0 += TILE) {
      for (let n = n0; n < Math.min(n0 + TILE, rows); n++) visit(n, k0, Math.min(k0 + TILE, columns));
    }
  }
}
