import { packRice, readRice } from './rice.ts';
import { TERM_BITS } from './terms.ts';
import { type Reader, readNumber, writeNumber } from './varint.ts';

/*
 * Posting lists: which transcripts contain which terms. A block covers a range of transcript numbers; its terms are distributed over
 * buckets by their leading bits, one row per bucket. For every term, ascending: the difference to the previous term; four times the length
 * of its list in bytes, plus the encoding of the list; and the list, relative to the first number of the block. A list is a bitmap,
 * differences as variable-length integers, or differences as Rice codes (about 1 bit above the entropy of evenly distributed numbers),
 * whichever is shortest.
 */

/** Transcript numbers by term, ascending. */
export type Postings = Map<number, number[]>;

/** First and last number of a block, both included, and the number of leading bits by which its terms are distributed over buckets. */
export interface Shape {
  first: number;
  last: number;
  bits: number;
}

const BITS_A_LEVEL = 4; // a block of the next level has 16 times as many transcripts and buckets
const [DISTANCES, BITS, RICE] = [0, 1, 2]; // encodings of lists

export function bitsOf(level: number): number {
  return level * BITS_A_LEVEL;
}

/** Bucket of a term. */
export function bucketOf(term: number, bits: number): number {
  return Math.floor(term / 2 ** (TERM_BITS - bits));
}

/** Encodes one bucket. Throws if numbers are not ascending or outside the block: lists of such numbers could not be read. */
export function pack(postings: Postings, shape: Shape): Buffer {
  const out: number[] = [];
  let before = 0;
  for (const term of [...postings.keys()].sort((a, b) => a - b)) {
    const rest = term % 2 ** (TERM_BITS - shape.bits);
    const { kind, bytes } = shortest(postings.get(term)!, shape);
    writeNumber(out, rest - before);
    writeNumber(out, bytes.length * 4 + kind);
    for (const byte of bytes) out.push(byte);
    before = rest;
  }
  return Buffer.from(out);
}

/** Decodes a bucket: passes every term with its numbers to `found`; if `wanted` is given, only those terms. */
export function unpack(
  data: Uint8Array,
  bucket: number,
  { first, bits }: Shape,
  found: (term: number, numbers: number[]) => void,
  wanted?: ReadonlySet<number>,
): void {
  const base = bucket * 2 ** (TERM_BITS - bits);
  const reader = { data, at: 0 };
  let rest = 0;
  while (reader.at < data.length) {
    rest += readNumber(reader);
    const head = readNumber(reader);
    const end = reader.at + Math.floor(head / 4);
    if (!wanted || wanted.has(base + rest)) found(base + rest, readList(head % 4, reader, end, first));
    reader.at = end;
  }
}

function shortest(numbers: readonly number[], { first, last }: Shape): { kind: number; bytes: ArrayLike<number> & Iterable<number> } {
  for (let k = 0, before = first - 1; k < numbers.length; before = numbers[k++]!)
    if (!(numbers[k]! > before && numbers[k]! <= last))
      throw new RangeError(`Cannot pack a list of the search index: ${numbers[k]} follows ${before} in a block of ${first} to ${last}`);
  const wide = Math.ceil((last - first + 1) / 8);
  if (wide * 8 <= numbers.length * 2) return { kind: BITS!, bytes: packBits(numbers, first, last) };
  const distances = packDistances(numbers, first);
  const rice = numbers.length > 2 ? packRice(numbers, first) : distances;
  if (wide <= Math.min(distances.length, rice.length)) return { kind: BITS!, bytes: packBits(numbers, first, last) };
  return rice.length < distances.length ? { kind: RICE!, bytes: rice } : { kind: DISTANCES!, bytes: distances };
}

function readList(kind: number, reader: Reader, end: number, first: number): number[] {
  if (kind === BITS) return readBits(reader.data, reader.at, end, first);
  return kind === RICE ? readRice(reader.data, reader.at, end, first) : readDistances(reader, end, first);
}

function packDistances(numbers: readonly number[], first: number): number[] {
  const out: number[] = [];
  let before = first;
  for (const number of numbers) {
    writeNumber(out, number - before);
    before = number;
  }
  return out;
}

function readDistances(reader: Reader, end: number, first: number): number[] {
  const numbers: number[] = [];
  for (let number = first; reader.at < end; ) {
    number += readNumber(reader);
    numbers.push(number);
  }
  return numbers;
}

function packBits(numbers: readonly number[], first: number, last: number): Uint8Array {
  const out = new Uint8Array(Math.ceil((last - first + 1) / 8));
  for (const number of numbers) out[(number - first) >> 3]! |= 1 << ((number - first) & 7);
  return out;
}

function readBits(data: Uint8Array, from: number, end: number, first: number): number[] {
  const numbers: number[] = [];
  for (let at = from; at < end; at++)
    for (let byte = data[at]!, bit = 0; byte; byte >>= 1, bit++) if (byte & 1) numbers.push(first + (at - from) * 8 + bit);
  return numbers;
}
