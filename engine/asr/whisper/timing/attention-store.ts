const PIECES_PER_PAGE = 64; // pieces allocated together
const DROPPED_BITS = 20; // dropped mantissa bits
const ROUNDING = 1 << (DROPPED_BITS - 1);
const MIN_VALUE_BITS = 96 << 23; // 2^-31 as float32

/**
 * Stores attention as an 8-bit float: of a float32 in [2^-31, 1] the lower five bits of the exponent and the upper three of the mantissa,
 * rounded (±6 %); smaller values become 2^-31. 25 % of the memory, and word timestamps are unchanged. A token's 12 KB come from pages of
 * many tokens: one allocation per token kept the garbage collector busy and fragmented the heap.
 */
export class AttentionStore {
  #page = new Uint8Array(0);
  #used = 0;

  /** A copy of `length` values starting at `from`. */
  keep(values: Float32Array, from = 0, length = values.length): Uint8Array {
    if (this.#used + length > this.#page.length) {
      this.#page = new Uint8Array(PIECES_PER_PAGE * length);
      this.#used = 0;
    }
    const shares = this.#page.subarray(this.#used, (this.#used += length));
    const bits = new Uint32Array(values.buffer, values.byteOffset, values.length);
    for (let i = 0; i < length; i++) {
      const rounded = bits[from + i]! + ROUNDING;
      shares[i] = rounded < MIN_VALUE_BITS ? 0 : rounded >>> DROPPED_BITS;
    }
    return shares;
  }
}

/** The value that each stored number stands for. */
export const WEIGHTS = new Float32Array(Uint32Array.from({ length: 256 }, (_, share) => MIN_VALUE_BITS | (share << DROPPED_BITS)).buffer);
