/*
 * Rice codes for the differences of ascending numbers. The first byte is k. Then for every difference minus 1 (the first: the difference to
 * `first`): its quotient by 2^k in unary (ones, then a zero) and its k low bits, highest first. The last byte is padded with ones.
 */

/** Encodes ascending numbers that are at least `first`. */
export function packRice(numbers: readonly number[], first: number): Uint8Array {
  const k = bitsFor(numbers, first);
  const out = new Uint8Array(1 + Math.ceil(lengthOf(numbers, first, k) / 8)).fill(255, 1);
  out[0] = k;
  let at = 8; // bits
  let before = first - 1;
  for (const number of numbers) {
    const rest = number - before - 1;
    before = number;
    at += rest >>> k;
    out[at >> 3]! &= ~(128 >> (at & 7));
    at++;
    for (let bit = k - 1; bit >= 0; bit--, at++) if (!((rest >>> bit) & 1)) out[at >> 3]! &= ~(128 >> (at & 7));
  }
  return out;
}

export function readRice(data: Uint8Array, from: number, end: number, first: number): number[] {
  const numbers: number[] = [];
  const k = data[from]!;
  const last = end * 8;
  let number = first - 1;
  for (let at = (from + 1) * 8; ; ) {
    let over = 0;
    while (at < last && data[at >> 3]! & (128 >> (at & 7))) {
      over++;
      at++;
    }
    if (at++ >= last) return numbers;
    let rest = over;
    for (let bit = 0; bit < k; bit++, at++) rest = (rest << 1) | ((data[at >> 3]! >> (7 - (at & 7))) & 1);
    number += rest + 1;
    numbers.push(number);
  }
}

/** The best k for evenly distributed numbers: the bits of 69 % (ln 2) of the mean difference. */
function bitsFor(numbers: readonly number[], first: number): number {
  const mean = (numbers.at(-1)! - first + 1) / numbers.length;
  return Math.max(0, Math.floor(Math.log2(Math.max(1, mean * Math.LN2))));
}

function lengthOf(numbers: readonly number[], first: number, k: number): number {
  let bits = 0;
  let before = first - 1;
  for (const number of numbers) {
    bits += ((number - before - 1) >>> k) + 1 + k;
    before = number;
  }
  return bits;
}
