import { readSync } from 'node:fs';

/* Protobuf messages read from a file, or from bytes, without decoding them: a file of any size takes little memory. */

const HEAD = 20; // bytes: longest tag and length

/** A field of a message. Its bytes with the tag are [start, to), its value alone [from, to). */
export interface Field {
  number: number;
  /** How the value is encoded: LENGTH_DELIMITED, or a number. */
  wire: number;
  start: number;
  from: number;
  to: number;
}

/** Wire type of strings, bytes and messages. */
export const LENGTH_DELIMITED = 2;

/** The fields of the message in [from, to), in order. Throws if the message is damaged. */
export function* fields(file: number | Buffer, { from, to }: Pick<Field, 'from' | 'to'>): Generator<Field> {
  for (let at = from; at < to; ) {
    const head = read(file, at, Math.min(HEAD, to - at));
    if (!head.length) throw new Error('it ends within a message');
    const [tag, afterTag] = varint(head, 0);
    const field = { number: Math.floor(tag / 8), wire: tag % 8, start: at, from: at + afterTag };
    const end = field.from + lengthOf(field, head, afterTag);
    if (field.wire === LENGTH_DELIMITED) field.from += varint(head, afterTag)[1] - afterTag;
    if (end > to) throw new Error(`a field in it has ${end - field.from} bytes, but ${to - field.from} remain`);
    yield { ...field, to: end };
    at = end;
  }
}

/** Bytes of a field's value, and of its length if it has one. */
function lengthOf({ wire }: Pick<Field, 'wire'>, head: Buffer, at: number): number {
  if (wire === 1) return 8;
  if (wire === 5) return 4;
  const [value, after] = varint(head, at);
  if (wire === 0) return after - at;
  if (wire === LENGTH_DELIMITED) return after - at + value;
  throw new Error(`a field in it has the unknown wire type ${wire}`);
}

/** At most `length` bytes of a file. */
export function read(file: number | Buffer, at: number, length: number): Buffer {
  if (typeof file !== 'number') return file.subarray(at, at + length);
  const buffer = Buffer.alloc(length);
  return buffer.subarray(0, readSync(file, buffer, 0, length, at));
}

/** An unsigned number and the position after it. */
export function varint(bytes: Buffer, from: number): [value: number, after: number] {
  let value = 0;
  for (let i = from; i < bytes.length; i++) {
    value += (bytes[i]! & 127) * 2 ** (7 * (i - from));
    if (bytes[i]! < 128) return [value, i + 1];
  }
  throw new Error('a number in it has no end');
}
