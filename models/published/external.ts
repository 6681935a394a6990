import { closeSync, fstatSync, openSync } from 'node:fs';
import { dirname } from 'node:path';
import { refused } from './layout.ts';
import { type Field, fields, LENGTH_DELIMITED, read } from './wire.ts';

/*
 * Files in which an ONNX file keeps its weights. PyTorch's exporter writes one for each large weight once a model exceeds 2 GB, other tools
 * write one for all.
 */

// Field numbers in the ONNX schema on the way to a tensor's external data.
const GRAPH = 7; // of a model
const [NODE, INITIALIZER] = [1, 5]; // of a graph
const ATTRIBUTE = 5; // of a node
const [VALUE, SUBGRAPH] = [5, 6]; // of an attribute
const EXTERNAL = 13; // of a tensor: entries with a key and a value
const [KEY, ENTRY] = [1, 2];

type Place = Pick<Field, 'from' | 'to'>;

/** Names of the files beside an ONNX file that hold its weights. Throws if one is not in the same folder, or if the file is damaged. */
export function externalFiles(path: string): string[] {
  const file = openSync(path, 'r');
  const found = new Set<string>();
  const text = ({ from, to }: Place) => read(file, from, to - from).toString('utf8');
  const tensor = (place: Place) => {
    for (const entry of within(place, EXTERNAL)) {
      const parts = [...fields(file, entry)];
      const [key, value] = [KEY, ENTRY].map((number) => parts.find((part) => part.number === number));
      if (key && value && text(key) === 'location') found.add(text(value));
    }
  };
  const graph = (place: Place) => {
    for (const part of fields(file, place)) {
      if (part.wire !== LENGTH_DELIMITED) continue;
      if (part.number === INITIALIZER) tensor(part);
      if (part.number !== NODE) continue;
      for (const attribute of within(part, ATTRIBUTE)) {
        for (const inner of fields(file, attribute)) {
          if (inner.wire !== LENGTH_DELIMITED) continue;
          if (inner.number === VALUE) tensor(inner);
          if (inner.number === SUBGRAPH) graph(inner);
        }
      }
    }
  };
  const within = (place: Place, number: number) =>
    [...fields(file, place)].filter((part) => part.number === number && part.wire === LENGTH_DELIMITED);
  try {
    for (const part of within({ from: 0, to: fstatSync(file).size }, GRAPH)) graph(part);
  } catch (cause) {
    throw refused(dirname(path), `${path} is damaged: ${(cause as Error).message}`);
  } finally {
    closeSync(file);
  }
  const elsewhere = [...found].find((name) => /[\\/]/.test(name) || name.startsWith('..'));
  if (elsewhere) throw refused(dirname(path), `its weights are in ${elsewhere}; wanted them in the same folder`);
  return [...found];
}
