import { constant, type Graph, MICROSOFT, op, saturates, scalar, weight } from './graph.ts';
import { quantise, transpose } from './quantise.ts';

const MIDDLE = 128; // byte of a channel's mean
const REACH = 7; // range of the bytes to each side, in deviations
const LARGEST = 3e38; // replaces infinities
const SHARE = 0.5; // exponent that balances how heavily a channel is read against how finely it is stored: SmoothQuant's alpha

/** A batch norm and the linear layer that reads ReLU(norm(x)). */
export interface Reader {
  norm: string;
  linear: string;
}

/**
 * How channels are stored between their readers: (x - mean) / deviation, as bytes with quantisation step `step`; as floats if the step is
 * 0.
 */
export interface Form {
  mean: Float32Array;
  deviation: Float32Array;
  step: number;
}

/**
 * Computes the form in which a block's channels are stored. `readers`: all readers of the block; the last one reads every channel. The byte
 * range of each channel depends on its deviation and is narrower for channels read with large weights, so that all channels contribute
 * similar errors.
 */
export function formOf(g: Graph, readers: readonly Reader[]): Form {
  const last = readers.at(-1)!.norm;
  const mean = g.checkpoint.float32(`${last}.running_mean`);
  if (g.peak === 0) return { mean: mean.fill(0), deviation: new Float32Array(mean.length).fill(1), step: 0 };
  const deviation = deviationOf(g, last);
  const heaviness = new Float64Array(mean.length);
  const count = new Float64Array(mean.length);
  for (const { norm, linear } of readers) {
    const { scale } = readNorm(g, norm);
    const sizes = largest(g.checkpoint.float32(`${linear}.weight`), scale.length).map(
      (size, c) => size * Math.abs(scale[c]!) * deviation[c]!,
    );
    const usual = sizes.reduce((sum, size) => sum + size, 0) / sizes.length;
    for (const [c, size] of sizes.entries()) {
      heaviness[c]! += Math.log(size / usual);
      count[c]!++;
    }
  }
  return { mean, deviation: deviation.map((value, c) => value / Math.exp((SHARE * heaviness[c]!) / count[c]!)), step: REACH / MIDDLE };
}

/** Stores channels in their form; `x` is already shifted and divided. */
export function keep(g: Graph, x: string, { step }: Form): string {
  return step ? op(g, 'QuantizeLinear', [x, scalar(g, step), byte(g, MIDDLE)]) : x;
}

/** Float values of the channels [first, end), divided and shifted as their form requires. */
export function intoForm(g: Graph, x: string, form: Form, first: number, end: number): string {
  if (!form.step) return x;
  const factors = form.deviation.slice(first, end).map((value) => 1 / value);
  return shifted(g, op(g, 'Mul', [x, vector(g, factors)]), form, first, end);
}

/** The same for values that are already divided. */
export function shifted(g: Graph, x: string, { mean, deviation, step }: Form, first: number, end: number): string {
  if (!step) return x;
  const shift = mean.slice(first, end).map((value, i) => value / deviation[first + i]!);
  return op(g, 'Sub', [x, vector(g, shift)]);
}

/**
 * W ReLU(norm(x)) + bias as one clip and one product: ReLU(a x + b) equals a max(x, -b/a) + b, with min for negative a, and everything but
 * the clip is folded into W and its bias. `into`: the form of the result, shifted and divided; without it, floats.
 */
export function clippedProduct(g: Graph, x: string, form: Form, { norm, linear }: Reader, into?: Form): string {
  const { scale, shift } = readNorm(g, norm);
  const weights = g.checkpoint.float32(`${linear}.weight`);
  const bias = g.checkpoint.float32(`${linear}.bias`);
  const [rows, columns] = [bias.length, scale.length];
  const gains = Float64Array.from(scale, (value, c) => value * form.deviation[c]!);
  for (let n = 0, i = 0; n < rows; n++) {
    const divisor = into?.deviation[n] ?? 1;
    bias[n] = (bias[n]! - (into?.mean[n] ?? 0)) / divisor;
    for (let c = 0; c < columns; c++, i++) weights[i] = weights[i]! * (gains[c]! / divisor);
  }
  const positive = (c: number) => scale[c]! > 0;
  const edges = scale.map((a, c) => atStep((-shift[c]! / a - form.mean[c]!) / form.deviation[c]!, form.step, positive(c)));
  const lower = edges.map((edge, c) => (positive(c) ? edge : Number.NEGATIVE_INFINITY));
  const upper = edges.map((edge, c) => (positive(c) ? Number.POSITIVE_INFINITY : edge));
  let clipped = op(g, 'Max', [x, bounds(g, lower, form.step)]);
  if (upper.some(Number.isFinite)) clipped = op(g, 'Min', [clipped, bounds(g, upper, form.step)]);
  return form.step ? byteProduct(g, clipped, weights, bias, edges, form.step) : floatProduct(g, clipped, weights, bias, edges);
}

/**
 * Rounds a clipping bound to the byte grid. A bound beyond the bytes on the clipped side removes the channel entirely; on the other side it
 * clips nothing.
 */
function atStep(edge: number, step: number, positive: boolean): number {
  if (!step) return edge;
  const steps = Math.round(edge / step);
  return step * (positive ? Math.min(steps, 255 - MIDDLE) : Math.max(steps, -MIDDLE));
}

/** Clipping bounds of channels, in their form; infinities clip nothing. */
function bounds(g: Graph, edges: Float32Array, step: number): string {
  const within = (value: number, lowest: number, highest: number) => Math.max(lowest, Math.min(highest, value));
  const floats = edges.map((edge) => within(edge, -LARGEST, LARGEST));
  if (!step) return vector(g, floats);
  const bytes = Uint8Array.from(edges, (edge) => within(Math.round(edge / step) + MIDDLE, 0, 255));
  return constant(g, 'uint8', [edges.length], () => bytes);
}

function floatProduct(g: Graph, x: string, weights: Float32Array, bias: Float32Array, edges: Float32Array): string {
  const [rows, columns] = [bias.length, edges.length];
  for (let n = 0; n < rows; n++) for (let c = 0; c < columns; c++) bias[n]! -= weights[n * columns + c]! * edges[c]!;
  const matrix = constant(g, 'float32', [columns, rows], () => transpose(weights, rows, columns));
  return op(g, 'Add', [op(g, 'MatMul', [x, matrix]), vector(g, bias)]);
}

/** The bias subtracts the bounds times the rounded weights, so that a clipped channel contributes exactly zero. */
function byteProduct(g: Graph, x: string, weights: Float32Array, bias: Float32Array, edges: Float32Array, step: number): string {
  const [rows, columns] = [bias.length, edges.length];
  const { values, scales } = quantise(weights, rows, columns, saturates(g));
  for (let c = 0, i = 0; c < columns; c++) {
    const edge = edges[c]!;
    for (let n = 0; n < rows; n++, i++) bias[n] = bias[n]! - values[i]! * scales[n]! * edge;
  }
  const matrix = constant(g, 'int8', [columns, rows], () => values);
  const zeros = constant(g, 'int8', [rows], () => new Int8Array(rows));
  const inputs = [x, matrix, scalar(g, step), vector(g, scales), byte(g, MIDDLE), zeros, vector(g, bias)];
  return op(g, 'MatMulIntegerToFloat', inputs, {}, MICROSOFT);
}

const EPSILON = 1e-5; // of the batch norms

/** A batch norm as x * scale + shift. */
function readNorm(g: Graph, name: string): { scale: Float32Array; shift: Float32Array } {
  const read = (part: string) => g.checkpoint.float32(`${name}.${part}`);
  const mean = read('running_mean');
  const deviation = deviationOf(g, name);
  const scale = read('weight').map((gain, c) => gain / deviation[c]!);
  return { scale, shift: read('bias').map((bias, c) => bias - scale[c]! * mean[c]!) };
}

/** Each channel's deviation as a batch norm recorded it in training. */
export function deviationOf(g: Graph, name: string): Float32Array {
  return g.checkpoint.float32(`${name}.running_var`).map((variance) => Math.sqrt(variance + EPSILON));
}

/** Maximum absolute value of each column of a matrix. */
function largest(matrix: Float32Array, columns: number): number[] {
  const sizes = new Float32Array(columns);
  for (let row = 0; row < matrix.length; row += columns) {
    for (let c = 0; c < columns; c++) {
      const size = Math.abs(matrix[row + c]!);
      if (size > sizes[c]!) sizes[c] = size;
    }
  }
  return Array.from(sizes);
}

export function vector(g: Graph, values: Float32Array): string {
  return constant(g, 'float32', [values.length], () => values);
}

function byte(g: Graph, value: number): string {
  return constant(g, 'uint8', [], () => Uint8Array.of(value));
}

/** `x` times the transposed weight [N, K] of a module, plus its bias; always float32. */
export function affine(g: Graph, x: string, name: string): string {
  const [rows, columns] = g.checkpoint.shape(`${name}.weight`) as [number, number];
  const matrix = constant(g, 'float32', [columns, rows], () => transpose(g.checkpoint.float32(`${name}.weight`), rows, columns));
  return op(g, 'Add', [op(g, 'MatMul', [x, matrix]), weight(g, `${name}.bias`)]);
}
