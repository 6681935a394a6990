import { closeSync, openSync, readSync } from 'node:fs';
import { dirname } from 'node:path';
import { refused } from './layout.ts';

/*
 * Files in which an ONNX file keeps its weights. PyTorch's exporter writes one for each large weight once a model exceeds 2 GB, other tools
 * write one for all. Only the structure is read, so a file of any size takes little memory.
 */

// Field numbers in the ONNX schema on the way to a tensor's external data.
const GRAPH = 7; // of a model
const [NODE, INITIALIZER] = [1, 5]; // of a graph
const ATTRIBUTE = 5; // of a node
const [VALUE, SUBGRAPH] = [5, 6]; // of an attribute
const EXTERNAL = 13; // of a tensor: entries with a key and a value
const [KEY, ENTRY] = [1, 2];
const HEAD = 20; // bytes: longest tag and length

interface Field {
  number: number;
  from: number;
  to: number;
}

/** Names of the files beside an ONNX file that hold its weights. Throws if one is not in the same folder, or if the file is damaged. */
export function externalFiles(path: string): string[] {
  const file = openSync(path, 'r');
  const found = new Set<string>();
  const text = ({ from, to }: Field) => read(file, from, to - from).toString('utf8');
  const tensor = (place: Field) => {
    for (const entry of within(place, EXTERNAL)) {
      const parts = [...fields(file, entry)];
      const [key, value] = [KEY, ENTRY].map((number) => parts.find((part) => part.number === number));
      if (key && value && text(key) === 'location') found.add(text(value));
    }
  };
  const graph = (place: Field) => {
    for (const part of fields(file, place)) {
      if (part.number === INITIALIZER) tensor(part);
      if (part.number !== NODE) continue;
      for (const attribute of within(part, ATTRIBUTE)) {
        for (const inner of fields(file, attribute)) {
          if (inner.number === VALUE) tensor(inner);
          if (inner.number === SUBGRAPH) graph(inner);
        }
      }
    }
  };
  const within = (place: Field, number: number) => [...fields(file, place)].filter((part) => part.number === number);
  try {
    for (const part of within({ number: 0, from: 0, to: Number.POSITIVE_INFINITY }, GRAPH)) graph(part);
  } catch (cause) {
    throw refused(dirname(path), `${path} is damaged: ${(cause as Error).message}`);
  } finally {
    closeSync(file);
  }
  const elsewhere = [...found].find((name) => /[\\/]/.test(name) || name.startsWith('..'));
  if (elsewhere) throw refused(dirname(path), `its weights are in ${elsewhere}; wanted them in the same folder`);
  return [...found];
}

/** The length-delimited fields of a message, in order. */
function* fields(file: number, { from, to }: Field): Generator<Field> {
  for (let at = from; at < to; ) {
    const head = read(file, at, HEAD);
    if (!head.length) return;
    const [tag, afterTag] = varint(head, 0);
    const [value, afterValue] = (tag & 7) === 1 ? [0, afterTag + 8] : (tag & 7) === 5 ? [0, afterTag + 4] : varint(head, afterTag);
    at += afterValue;
    if ((tag & 7) !== 2) continue;
    yield { number: tag >>> 3, from: at, to: at + value };
    at += value;
  }
}

function read(file: number, at: number, length: number): Buffer {
  const buffer = Buffer.alloc(length);
  return buffer.subarray(0, readSync(file, buffer, 0, length, at));
}

/** An unsigned number and the position after it. */
function varint(bytes: Buffer, from: number): [value: number, after: number] {
  let value = 0;
  for (let i = from; i < bytes.length; i++) {
    value += (bytes[i]! & 127) * 2 ** (7 * (i - from));
    if (bytes[i]! < 128) return [value, i + 1];
  }
  throw new Error('a number in it has no end');
}
