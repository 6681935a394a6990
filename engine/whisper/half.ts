const PAGE = 64; // pieces that are allocated together

/**
 * Memory for attention as bfloat16, the upper halves of float32: half the memory for numbers of which two digits matter. Shifting a half left
 * by 16 gives the bits of a float32 again. A token's 24 KB come from pages of many: an allocation for each of them made the collector of
 * garbage run all the time, and left holes.
 */
export class Halves {
  #page = new Uint16Array(0);
  #used = 0;

  /** A copy of `length` values from `from` on. */
  keep(values: Float32Array, from = 0, length = values.length): Uint16Array {
    if (this.#used + length > this.#page.length) {
      this.#page = new Uint16Array(PAGE * length);
      this.#used = 0;
    }
    const halves = this.#page.subarray(this.#used, (this.#used += length));
    const bits = new Uint32Array(values.buffer, values.byteOffset, values.length);
    for (let i = 0; i < length; i++) halves[i] = bits[from + i]! >>> 16;
    return halves;
  }
}
