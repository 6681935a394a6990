import * as graph from './graph.ts';
import { type Graph, ints, op, weight } from './graph.ts';
import { quantisedBy } from './linear.ts';

const TAPS = 3;
const END = 1 << 30;

/**
 * A three-frame convolution with zero padding: [B, F, C] to [B, F / stride, N]. The 8-bit variants concatenate the frames as bytes for a
 * single product: 33 % of the time.
 */
export function convolution(g: Graph, x: string, name: string, stride: 1 | 2): string {
  return g.peak > 0 ? byBytes(g, x, name, stride) : inFloat(g, x, name, stride);
}

function inFloat(g: Graph, x: string, name: string, stride: number): string {
  const inputs = [op(g, 'Transpose', [x], { perm: [0, 2, 1] }), weight(g, `${name}.weight`), weight(g, `${name}.bias`)];
  return op(g, 'Transpose', [op(g, 'Conv', inputs, { pads: [1, 1], strides: [stride] })], { perm: [0, 2, 1] });
}

function byBytes(g: Graph, x: string, name: string, stride: number): string {
  const [bytes, scale, zero] = graph.ops(g, 'DynamicQuantizeLinear', [x], 3) as [string, string, string];
  const padded = op(g, 'Pad', [bytes, ints(g, 0, 1, 0, 0, 1, 0), zero]);
  const taps = Array.from({ length: TAPS }, (_, tap) => {
    const end = tap - stride - 1; // relative to the last frame
    return op(g, 'Slice', [padded, ints(g, tap), ints(g, end < 0 ? end : END), ints(g, 1), ints(g, stride)]);
  });
  const [values, scales, zeros] = quantisedBy(g, shapeOf(g, name), () => matrixOf(g, name), `${name}.weight`);
  const inputs = [op(g, 'Concat', taps, { axis: 2 }), values, scale, scales, zero, zeros, weight(g, `${name}.bias`)];
  return op(g, 'MatMulIntegerToFloat', inputs, {}, graph.MICROSOFT);
}

function shapeOf(g: Graph, name: string): [number, number] {
  const [rows, channels] = g.checkpoint.shape(`${name}.weight`) as [number, number, number];
  return [rows, TAPS * channels];
}

/** Kernels [N, C, 3] as [N, 3 * C]: grouped by tap. */
function matrixOf(g: Graph, name: string): Float32Array {
  const [rows, channels] = g.checkpoint.shape(`${name}.weight`) as [number, number, number];
  const kernels = g.checkpoint.float32(`${name}.weight`);
  const matrix = new Float32Array(kernels.length);
  for (let at = 0, n = 0; n < rows; n++) {
    for (let tap = 0; tap < TAPS; tap++) for (let c = 0; c < channels; c++) matrix[at++] = kernels[(n * channels + c) * TAPS + tap]!;
  }
  return matrix;
}

/** The reverse: kernels [N, C, 3] of a matrix [N, 3 * C]. */
export function kernelsOf(matrix: Float32Array, [rows, channels]: readonly number[]): Float32Array {
  const kernels = new Float32Array(matrix.length);
  for (let at = 0, n = 0; n < rows!; n++) {
    for (let tap = 0; tap < TAPS; tap++) for (let c = 0; c < channels!; c++) kernels[(n * channels! + c) * TAPS + tap] = matrix[at++]!;
  }
  return kernels;
}
