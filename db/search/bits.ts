/** Sets of transcript numbers: a bit for each, lowest first in every byte, as PostgreSQL's get_bit reads them. */
export type Bits = Uint8Array;

export function emptyBits(size: number): Bits {
  return new Uint8Array(Math.ceil(size / 8));
}

export function set(bits: Bits, numbers: readonly number[]): void {
  for (const number of numbers) bits[number >> 3]! |= 1 << (number & 7);
}

export function clear(bits: Bits, number: number): void {
  if (number >> 3 < bits.length) bits[number >> 3]! &= ~(1 << (number & 7));
}

export function has(bits: Bits, number: number): boolean {
  return (((bits[number >> 3] ?? 0) >> (number & 7)) & 1) === 1;
}

/** Intersection; the sets may differ in size. */
export function both(a: Bits, b: Bits): Bits {
  const out = new Uint8Array(Math.min(a.length, b.length));
  for (let at = 0; at < out.length; at++) out[at] = a[at]! & b[at]!;
  return out;
}

/** Union of two sets of the same size. */
export function either(a: Bits, b: Bits): Bits {
  const out = new Uint8Array(a.length);
  for (let at = 0; at < out.length; at++) out[at] = a[at]! | b[at]!;
  return out;
}

const ONES = Uint8Array.from({ length: 256 }, (_, byte) => byte.toString(2).replaceAll('0', '').length);

export function count(bits: Bits): number {
  let ones = 0;
  for (let at = 0; at < bits.length; at++) ones += ONES[bits[at]!]!;
  return ones;
}

/** The distance of the nth number of a set from an end, in whole bytes; of the whole set if it has fewer. */
export function reach(bits: Bits, nth: number, end: 'lowest' | 'highest'): number {
  let passed = 0;
  for (let ones = 0; passed < bits.length && ones < nth; passed++) ones += ONES[bits.at(end === 'lowest' ? passed : -1 - passed)!]!;
  return passed * 8;
}

/** The numbers of a set that are greater than `above`, ascending. */
export function* numbersOf(bits: Bits, above = -1): Generator<number> {
  for (let at = Math.max(0, above >> 3); at < bits.length; at++)
    for (let rest = bits[at]!, bit = 0; rest; rest >>= 1, bit++) if (rest & 1 && at * 8 + bit > above) yield at * 8 + bit;
}
