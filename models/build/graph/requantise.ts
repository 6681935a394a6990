import { decodeGraph } from './onnx.ts';
import { withoutSaturation } from './quantise.ts';

const FROM = 127; // largest sizes of keys and values before …
const TO = 63; // … and after

/** Which input of a product has the scales of the weights. */
const SCALES: Record<string, number> = { DynamicQuantizeMatMul: 2, MatMulIntegerToFloat: 3 };

/**
 * Turns an `int8` graph into the `int8-7bit` one in place, for processors whose sums of 8-bit products saturate. A little less exact than building
 * from the checkpoint, because values are rounded twice. `file`: the bytes of an ONNX file with its weights inside.
 */
export function requantise(file: Uint8Array): void {
  const { nodes, weights, shapes } = decodeGraph(file);
  const products = nodes.filter(({ op, inputs }) => op in SCALES && weights.has(inputs[1]!)); // in others keys and values are multiplied
  const matrices = new Map(products.map(({ op, inputs }) => [inputs[1]!, inputs[SCALES[op]!]!])); // values, scales
  for (const [values, scales] of matrices) {
    const bytes = weights.get(values)!;
    const growth = withoutSaturation(new Int8Array(bytes.buffer, bytes.byteOffset, bytes.length), shapes.get(values)![1]!);
    changeFloats(weights.get(scales)!, (scale, n) => scale * growth[n]!);
  }
  // the encoder quantises keys and values by a constant
  for (const bytes of weights.values()) {
    if (bytes.length === 4) changeFloats(bytes, (value) => (value === Math.fround(1 / FROM) ? 1 / TO : value));
  }
}

/** Weights of a file are not aligned. */
function changeFloats(bytes: Uint8Array, change: (value: number, i: number) => number): void {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
  for (let at = 0; at < bytes.length; at += 4) view.setFloat32(at, change(view.getFloat32(at, true), at / 4), true);
}
