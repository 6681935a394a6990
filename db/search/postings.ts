import { TERM_BITS } from './terms.ts';

/*
 * Posting lists: which transcripts contain which terms. A block covers a range of transcript numbers; its terms are distributed over
 * buckets by their leading bits, one row per bucket. For every term, ascending: the difference to the previous term; the number of bytes
 * that follow, whose lowest bit tells whether they are a bitmap; and the transcript numbers relative to the first of the block, as
 * differences or as a bitmap, whichever is shorter. Integers are variable-length: seven bits per byte, lowest first.
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
const MOST_BITS = 20;

export function bitsOf(level: number): number {
  return Math.min(MOST_BITS, level * BITS_A_LEVEL);
}

/** Bucket of a term. */
export function bucketOf(term: number, bits: number): number {
  return Math.floor(term / 2 ** (TERM_BITS - bits));
}

/** Encodes one bucket. */
export function pack(postings: Postings, { first, last, bits }: Shape): Buffer {
  const out: number[] = [];
  let before = 0;
  for (const term of [...postings.keys()].sort((a, b) => a - b)) {
    const rest = term % 2 ** (TERM_BITS - bits);
    const numbers = postings.get(term)!;
    const distances = packDistances(numbers, first);
    const bitmap = Math.ceil((last - first + 1) / 8) < distances.length;
    const bytes = bitmap ? packBits(numbers, first, last) : distances;
    write(out, rest - before);
    write(out, bytes.length * 2 + (bitmap ? 1 : 0));
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
    rest += read(reader);
    const head = read(reader);
    const end = reader.at + Math.floor(head / 2);
    if (!wanted || wanted.has(base + rest))
      found(base + rest, head % 2 ? readBits(data, reader.at, end, first) : readDistances(reader, end, first));
    reader.at = end;
  }
}

function packDistances(numbers: readonly number[], first: number): number[] {
  const out: number[] = [];
  let before = first;
  for (const number of numbers) {
    write(out, number - before);
    before = number;
  }
  return out;
}

function readDistances(reader: { data: Uint8Array; at: number }, end: number, first: number): number[] {
  const numbers: number[] = [];
  for (let number = first; reader.at < end; ) {
    number += read(reader);
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

/** Terms have 40 bits, so no bit operators. */
function write(out: number[], value: number): void {
  let rest = value;
  while (rest >= 128) {
    out.push((rest % 128) + 128);
    rest = Math.floor(rest / 128);
  }
  out.push(rest);
}

function read(reader: { data: Uint8Array; at: number }): number {
  let value = 0;
  for (let scale = 1; ; scale *= 128) {
    const byte = reader.data[reader.at++]!;
    value += (byte & 127) * scale;
    if (byte < 128) return value;
  }
}
