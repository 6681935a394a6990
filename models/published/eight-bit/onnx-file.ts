import { closeSync, fstatSync, openSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { type DecodedNode, decodeNode, ELEMENT, prefix } from '../../build/graph/onnx.ts';
import { fromFloat16 } from '../../build/whisper/safetensors.ts';
import { refused } from '../layout.ts';
import { type Field, fields, read, varint } from '../wire.ts';

// Field numbers in the ONNX schema.
const [GRAPH, OPSET_IMPORT] = [7, 8]; // of a model
const [NODE, INITIALIZER, OUTPUT] = [1, 5, 12]; // of a graph
const INPUT = 1; // of a node
const [DIMS, DATA_TYPE, NAME, RAW_DATA, EXTERNAL] = [1, 2, 8, 9, 13]; // of a tensor

/** Bytes of a file. */
export interface Place {
  path: string;
  from: number;
  length: number;
}

/** A weight. */
export interface FileTensor {
  name: string;
  /** Element type, a number of the ONNX schema. */
  type: number;
  dims: number[];
  /** Where its numbers lie; null: they are encoded one by one, as those of small tensors may be. */
  data: Place | null;
  /** The whole message with its tag. */
  whole: Place;
}

/** An operator, with its message as it is in the file. */
export interface FileNode extends DecodedNode {
  bytes: Buffer;
}

/** An ONNX file taken apart so that operators and weights can be replaced; everything else is copied as it is. */
export interface OnnxFile {
  nodes: FileNode[];
  tensors: Map<string, FileTensor>;
  /** How often each name is used: by operators, by subgraphs, and as an output of the graph. */
  uses: Map<string, number>;
  outputs: string[];
  opsets: Record<string, number>;
  /** All other fields of the model and of its graph, with their tags. */
  model: Buffer[];
  graph: Buffer[];
}

/** Takes a file apart. Throws if it is damaged. */
export function openOnnx(path: string): OnnxFile {
  const file = openSync(path, 'r');
  try {
    return takenApart(file, path);
  } catch (cause) {
    throw refused(dirname(path), `${path} is damaged: ${(cause as Error).message}`);
  } finally {
    closeSync(file);
  }
}

function takenApart(file: number, path: string): OnnxFile {
  const found: OnnxFile = { nodes: [], tensors: new Map(), uses: new Map(), outputs: [], opsets: {}, model: [], graph: [] };
  const bytesOf = ({ from, to }: Field) => read(file, from, to - from);
  const whole = ({ start, to }: Field) => read(file, start, to - start);
  const inGraph = (field: Field) => {
    if (field.number === INITIALIZER) {
      const tensor = tensorOf(file, path, field);
      found.tensors.set(tensor.name, tensor);
      return;
    }
    if (field.number === NODE) {
      const bytes = bytesOf(field);
      found.nodes.push({ ...decodeNode(bytes), bytes });
      return;
    }
    found.graph.push(whole(field));
    if (field.number === OUTPUT) found.outputs.push(stringIn(file, field, 1));
  };
  for (const field of fields(file, { from: 0, to: fstatSync(file).size })) {
    if (field.number === GRAPH) for (const inner of fields(file, field)) inGraph(inner);
    else if (field.number === OPSET_IMPORT) found.opsets[stringIn(file, field, 1)] = numberIn(file, field, 2);
    else found.model.push(whole(field));
  }
  return { ...found, uses: usesOf(found) };
}

/** How often each name is used. */
export function usesOf({ nodes, outputs }: Pick<OnnxFile, 'nodes' | 'outputs'>): Map<string, number> {
  const uses = new Map<string, number>();
  for (const name of [...nodes.flatMap(({ inputs, nested }) => [...inputs, ...nested]), ...outputs])
    uses.set(name, (uses.get(name) ?? 0) + 1);
  return uses;
}

/** An operator with other inputs. */
export function withInputs(node: FileNode, inputs: string[]): FileNode {
  const names = inputs.map((name) => Buffer.concat([prefix(INPUT, Buffer.byteLength(name)), Buffer.from(name)]));
  const rest = [...fields(node.bytes, { from: 0, to: node.bytes.length })].filter(({ number }) => number !== INPUT);
  return { ...node, inputs, bytes: Buffer.concat([...names, ...rest.map(({ start, to }) => node.bytes.subarray(start, to))]) };
}

function tensorOf(file: number, path: string, field: Field): FileTensor {
  const parts = [...fields(file, field)];
  const external = Object.fromEntries(parts.filter(({ number }) => number === EXTERNAL).map((entry) => entryOf(file, entry)));
  const raw = parts.find(({ number }) => number === RAW_DATA);
  const dims = parts.filter(({ number }) => number === DIMS).flatMap((part) => numbers(file, part));
  const inline = raw ? { path, from: raw.from, length: raw.to - raw.from } : null;
  const { location, offset = '0', length } = external;
  const type = numberIn(file, field, DATA_TYPE);
  const outside =
    location === undefined
      ? null
      : { path: join(dirname(path), location), from: Number(offset), length: Number(length ?? sizeOf(type, dims)) };
  return {
    name: stringIn(file, field, NAME),
    type,
    dims,
    data: outside ?? inline,
    whole: { path, from: field.start, length: field.to - field.start },
  };
}

/** Bytes of a tensor of 4-byte numbers: only those are read from other files without a given length. */
function sizeOf(type: number, dims: readonly number[]): number {
  return type === ELEMENT.float32 ? 4 * dims.reduce((product, size) => product * size, 1) : Number.NaN;
}

function entryOf(file: number, entry: Field): [key: string, value: string] {
  return [stringIn(file, entry, 1), stringIn(file, entry, 2)];
}

function stringIn(file: number, message: Field, number: number): string {
  const found = [...fields(file, message)].find((field) => field.number === number);
  return found ? read(file, found.from, found.to - found.from).toString('utf8') : '';
}

function numberIn(file: number, message: Field, number: number): number {
  const found = [...fields(file, message)].find((field) => field.number === number);
  return found ? varint(read(file, found.from, found.to - found.from), 0)[0] : 0;
}

/** The numbers of a repeated field: packed, or one. */
function numbers(file: number, { from, to }: Field): number[] {
  const bytes = read(file, from, to - from);
  const found = [];
  for (let at = 0; at < bytes.length; ) {
    const [value, after] = varint(bytes, at);
    found.push(value);
    at = after;
  }
  return found;
}

/** The numbers of a float32 or float16 tensor, row-major. Throws if the file ends before them. */
export function floatsOf({ name, type, data, dims }: FileTensor): Float32Array {
  const bytes = bytesAt(data!);
  const half = type === ELEMENT.float16;
  const wanted = (half ? 2 : 4) * dims.reduce((product, size) => product * size, 1);
  if (bytes.length !== wanted)
    throw new Error(`the weight ${name} has ${bytes.length} bytes, wanted ${wanted} for [${dims}]; download the model again`);
  return half
    ? fromFloat16(new Uint16Array(bytes.buffer, bytes.byteOffset, bytes.length / 2))
    : new Float32Array(bytes.buffer, bytes.byteOffset, bytes.length / 4);
}

/** Bytes of a file, at an aligned address. */
export function bytesAt({ path, from, length }: Place): Buffer {
  const file = openSync(path, 'r');
  try {
    const bytes = Buffer.from(new ArrayBuffer(length));
    let at = 0;
    while (at < length) {
      const part = read(file, from + at, Math.min(PART, length - at));
      if (!part.length) throw new Error(`${path} ends after ${from + at} bytes, wanted ${from + length}; download the model again`);
      part.copy(bytes, at);
      at += part.length;
    }
    return bytes;
  } finally {
    closeSync(file);
  }
}

const PART = 64 * 2 ** 20; // bytes read at once
