import { decodeGraph } from './onnx.ts';
import { withoutSaturation } from './quantise.ts';

const PEAK = 63; // largest absolute key or value where sums of products saturate

/** Index of the input with the weights' scales, by product operator. */
const SCALES: Record<string, number> = { DynamicQuantizeMatMul: 2, MatMulIntegerToFloat: 3 };

/**
 * Turns an `int8` graph into the `int8-7bit` one in place, for CPUs whose sums of 8-bit products saturate. Slightly less exact than
 * building from the checkpoint, because values are rounded twice.
 * @param file the bytes of an ONNX file with inline weights
 * @param peakConstants names of its constants that hold the reciprocal of the largest key or value
 */
export function requantise(file: Uint8Array, peakConstants: readonly string[]): void {
  const { nodes, weights, shapes } = decodeGraph(file);
  const products = nodes.filter(({ op, inputs }) => op in SCALES && weights.has(inputs[1]!)); // the others multiply keys and values
  const matrices = new Map(products.map(({ op, inputs }) => [inputs[1]!, inputs[SCALES[op]!]!])); // values, scales
  for (const [values, scales] of matrices) {
    const bytes = weights.get(values)!;
    const growth = withoutSaturation(new Int8Array(bytes.buffer, bytes.byteOffset, bytes.length), shapes.get(values)![1]!);
    changeFloats(weights.get(scales)!, (scale, n) => scale * growth[n]!);
  }
  for (const name of peakConstants) changeFloats(weights.get(name)!, () => 1 / PEAK);
}

/** Weights in a file are not aligned. */
function changeFloats(bytes: Uint8Array, change: (value: number, i: number) => number): void {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
  for (let at = 0; at < bytes.length; at += 4) view.setFloat32(at, change(view.getFloat32(at, true), at / 4), true);
}
