import { join } from 'node:path';
import { kernelsOf } from '../build/graph/convolution.ts';
import { createGraph, type Graph, type Weights } from '../build/graph/graph.ts';
import { type Constant, ELEMENT } from '../build/graph/onnx.ts';
import { transpose } from '../build/graph/quantise.ts';
import { dimensionsOf, isInt8, readConfig, readGeneration } from '../build/whisper/config.ts';
import { addDecoder } from '../build/whisper/decoder.ts';
import { addEncoder } from '../build/whisper/encoder.ts';
import { shapesOf } from '../build/whisper/shapes.ts';
import { readWhisper, type WhisperDescriptor } from '../descriptor.ts';
import { bytesAt, type FileTensor, floatsOf, openOnnx } from '../published/eight-bit/onnx-file.ts';

/** The weights of a built model, in place of those of its checkpoint. */
export type Restored = Weights &
  WhisperDescriptor['checkpoint'] & {
    /** The model that they were restored from. */
    model: WhisperDescriptor;
  };

const GRAPHS = { 'encoder.onnx': addEncoder, 'decoder.onnx': addDecoder };

/**
 * Reads the weights back from an int8 model of ours, for machines that have no checkpoint: each 8-bit number times the scale of its channel. They
 * compute what the model computes, not what its checkpoint did, since rounding cannot be undone. Reads one weight at a time. Throws if
 * the model has another variant or was built by another version, whose graphs may differ.
 */
export function restore(folder: string): Restored {
  const model = readWhisper(folder);
  const { name, variant, recipe } = model;
  if (!isInt8(variant))
    throw new Error(`Cannot convert ${name}: it is ${variant}, wanted an int8 model; import its checkpoint with --variant instead`);
  const config = readConfig(folder);
  const dimensions = dimensionsOf(config, readGeneration(folder, config, model.dimensions.alignmentHeads).generation);
  const shapes = shapesOf(config); // the files have the weights in other layouts
  const shape = (weight: string) => [...shapes.get(weight)!];
  const unread = { shape, float32: () => new Float32Array() };
  const stored = new Map<string, Stored[]>();
  for (const [file, add] of Object.entries(GRAPHS)) {
    const graph = createGraph(unread, variant, recipe.scales.rowwise);
    add(graph, dimensions, recipe);
    for (const part of storedIn(join(folder, file), graph, name)) stored.set(part.of, [...(stored.get(part.of) ?? []), part]);
  }
  return { ...model.checkpoint, model, shape, float32: (weight) => assembled(shape(weight), stored.get(weight) ?? []) };
}

/** A weight, or a part of its rows, in a file; `scales` if it is int8. */
interface Stored {
  of: string;
  values: FileTensor;
  scales?: FileTensor;
}

/** The weights in a file that was built as this graph. Throws if a weight is not where the graph has it. */
function storedIn(path: string, { constants }: Graph, name: string): Stored[] {
  const { tensors } = openOnnx(path);
  const find = ({ name: constant, element, dims }: Constant) => {
    const found = tensors.get(constant);
    if (found?.data && found.type === ELEMENT[element] && `${found.dims}` === `${dims}`) return found;
    throw new Error(`Cannot convert ${name}: another version of Longhand built it; import its checkpoint with --variant instead`);
  };
  return constants.flatMap((constant, i) => {
    const { of, element } = constant;
    if (of === undefined || (constants[i - 1]?.element === 'int8' && constants[i - 1]?.of === of)) return [];
    return { of, values: find(constant), ...(element === 'int8' ? { scales: find(constants[i + 1]!) } : {}) };
  });
}

/** Row-major. */
function assembled(shape: readonly number[], parts: readonly Stored[]): Float32Array {
  const whole = new Float32Array(shape.reduce((product, size) => product * size, 1));
  let at = 0;
  for (const { values, scales } of parts) {
    const part = scales ? multiplied(values, floatsOf(scales)) : floatsOf(values);
    whole.set(part, at);
    at += part.length;
  }
  return shape.length === 3 && parts[0]?.scales ? kernelsOf(whole, shape) : whole;
}

/** int8 values [K, N] times the scales of their channels: [N, K]. */
function multiplied({ data, dims }: FileTensor, scales: Float32Array): Float32Array {
  const [columns, rows] = dims as [number, number];
  const bytes = bytesAt(data!);
  const floats = Float32Array.from(new Int8Array(bytes.buffer, bytes.byteOffset, bytes.length), (value, i) => value * scales[i % rows]!);
  return transpose(floats, columns, rows);
}
