const PAGE = 64; // pieces that are allocated together
const DROPPED = 20; // bits of the mantissa
const HALF = 1 << (DROPPED - 1);
const LEAST = 96 << 23; // 2^-31 as float32

/**
 * Memory for attention as bytes: of a float32 in [2^-31, 1] the lower five bits of the exponent and the upper three of the mantissa, rounded, so right
 * within a sixteenth; what is less counts as 2^-31. A fourth of the memory, and words begin where they began. A token's 12 KB come from pages of many:
 * an allocation for each of them made the collector of garbage run all the time, and left holes.
 */
export class AttentionStore {
  #page = new Uint8Array(0);
  #used = 0;

  /** A copy of `length` values from `from` on. */
  keep(values: Float32Array, from = 0, length = values.length): Uint8Array {
    if (this.#used + length > this.#page.length) {
      this.#page = new Uint8Array(PAGE * length);
      this.#used = 0;
    }
    const shares = this.#page.subarray(this.#used, (this.#used += length));
    const bits = new Uint32Array(values.buffer, values.byteOffset, values.length);
    for (let i = 0; i < length; i++) {
      const rounded = bits[from + i]! + HALF;
      shares[i] = rounded < LEAST ? 0 : rounded >>> DROPPED;
    }
    return shares;
  }
}

/** The bits of a kept share as float32. */
export function bitsOf(share: number): number {
  return LEAST | (share << DROPPED);
}
