import { type Attribute, type Body, type Constant, ELEMENT, type Element, type Model, type Port } from './onnx.ts';
import { toFloat16 } from './quantise.ts';

/**
 * int8: fastest on CPUs with 8-bit dot products. int8-7bit: for CPUs whose sums of 8-bit products saturate; keys and values have 7 bits,
 * and weights are as large as two adjacent ones may be together. float32: exact. float16: weights and most activations in half precision,
 * for GPUs.
 */
export const VARIANTS = ['int8', 'int8-7bit', 'float32', 'float16'] as const;
export type Variant = (typeof VARIANTS)[number];
export type CpuVariant = Exclude<Variant, 'float16'>;

export const MICROSOFT = 'com.microsoft'; // onnxruntime's own operators
const OPSETS = { '': 18, [MICROSOFT]: 1 };
const EPSILON = 1e-5; // of Whisper's layer norms

/** The weights of a checkpoint, by name. */
export interface Weights {
  shape(name: string): number[];
  /** Row-major. */
  float32(name: string): Float32Array;
}

/** A graph under construction: functions add nodes or weights and return the name of a tensor. */
export interface Graph extends Model {
  readonly variant: Variant;
  /** Maximum absolute value of keys and values in int8: 127 or 63. 0 in the float variants. */
  readonly peak: number;
  /** Element type of the activations between the layers. */
  readonly float: 'float32' | 'float16';
  readonly checkpoint: Weights;
  /** Matrices whose activations have a scale per row, by name without `.weight`. */
  readonly rowwise: ReadonlySet<string>;
  /** Constants equal to 1 / peak; requantise.ts changes them. */
  readonly peakConstants: string[];
  /** Products with the checkpoint's matrices in float variants: what is multiplied, and the matrix without `.weight`. */
  readonly products: { x: string; name: string }[];
  count: number;
}

export function createGraph(checkpoint: Weights, variant: Variant, rowwise: Iterable<string> = []): Graph {
  const peak = { int8: 127, 'int8-7bit': 63, float32: 0, float16: 0 }[variant];
  const float = variant === 'float16' ? 'float16' : 'float32';
  const empty = { count: 0, nodes: [], constants: [], inputs: [], outputs: [], peakConstants: [], products: [] };
  return { checkpoint, variant, peak, float, rowwise: new Set(rowwise), ...empty, opsets: OPSETS };
}

/** Whether the graph is for CPUs whose sums of 8-bit products saturate. */
export function saturates({ variant }: Graph): boolean {
  return variant === 'int8-7bit';
}

/** Adds an operator with one output. `domain` is MICROSOFT for onnxruntime's own operators. */
export function op(g: Graph, kind: string, inputs: string[], attributes: Record<string, Attribute> = {}, domain = ''): string {
  return ops(g, kind, inputs, 1, attributes, domain)[0]!;
}

/** Adds an operator with `count` outputs. */
export function ops(
  g: Graph,
  kind: string,
  inputs: string[],
  count: number,
  attributes: Record<string, Attribute> = {},
  domain = '',
): string[] {
  const id = `${kind}_${++g.count}`;
  const outputs = count === 1 ? [id] : Array.from({ length: count }, (_, i) => `${id}_${i}`);
  g.nodes.push({ op: kind, domain, inputs, outputs, attributes });
  return outputs;
}

/** Runs `build` so that what it adds and declares becomes a subgraph, which may use every tensor of `g`. */
export function nested<T>(g: Graph, build: () => T): { result: T; body: Body } {
  const { nodes, inputs, outputs } = g;
  Object.assign(g, { nodes: [], inputs: [], outputs: [] });
  const result = build();
  const body = { nodes: g.nodes, inputs: g.inputs, outputs: g.outputs };
  Object.assign(g, { nodes, inputs, outputs });
  return { result, body };
}

/**
 * Applies `body` to each slice of some tensors along their first axis and stacks the results. `tensors`: their names and the shapes of
 * their slices; `result`: the shape of a result. `body` maps the names of the slices to that of its result. onnxruntime prepares a body
 * once: with the encoder's heads unrolled, loading the model took ten times as long.
 */
export function scan(g: Graph, tensors: Port[], result: Omit<Port, 'name'>, body: (...slices: string[]) => string): string {
  const inputs = tensors.map((tensor) => ({ ...tensor, name: `${tensor.name}_slice` }));
  const { result: name, body: inside } = nested(g, () => body(...inputs.map(({ name }) => name)));
  const attributes = { num_scan_inputs: tensors.length, body: { body: { ...inside, inputs, outputs: [{ name, ...result }] } } };
  const names = tensors.map(({ name }) => name);
  return op(g, 'Scan', names, attributes);
}

/** Declares an input. */
export function input(g: Graph, name: string, element: Element, dims: Port['dims']): string {
  g.inputs.push({ name, element, dims });
  return name;
}

/** Declares the tensor `source` as an output, renaming it. It is not copied: the logits of a step are 1.6 MB. */
export function output(g: Graph, name: string, source: string, element: Element, dims: Port['dims']): string {
  g.outputs.push({ name, element, dims });
  const renamed = (tensor: string) => (tensor === source ? name : tensor);
  for (const node of g.nodes) {
    node.inputs = node.inputs.map(renamed);
    node.outputs = node.outputs.map(renamed);
  }
  return name;
}

/** Name of the dimension of keys and values: encoder frames, by how many frames each stands for. */
export function frames(each: number): string {
  return each === 1 ? 'S' : `S/${each}`;
}

/** @param of the weight that it holds, by its name in the checkpoint */
export function constant(g: Graph, element: Element, dims: number[], load: Constant['load'], of?: string): string {
  const name = `c${++g.count}`;
  g.constants.push({ name, element, dims, load, of });
  return name;
}

export function ints(g: Graph, ...values: number[]): string {
  return constant(g, 'int64', [values.length], () => BigInt64Array.from(values, BigInt));
}

/** An integer scalar: gathering with it drops the axis. */
export function index(g: Graph, value: number): string {
  return constant(g, 'int64', [], () => BigInt64Array.of(BigInt(value)));
}

/** A float32 scalar. */
export function scalar(g: Graph, value: number): string {
  return constant(g, 'float32', [], () => Float32Array.of(value));
}

/** The reciprocal of the largest 8-bit key or value, recorded in `peakConstants`. */
export function reciprocalOfPeak(g: Graph): string {
  const name = scalar(g, 1 / g.peak);
  g.peakConstants.push(name);
  return name;
}

/** A weight of the checkpoint in the activations' type. */
export function weight(g: Graph, name: string): string {
  return floats(g, g.checkpoint.shape(name), () => g.checkpoint.float32(name), name);
}

/** Numbers in the activations' type. */
export function floats(g: Graph, dims: number[], load: () => Float32Array, of?: string): string {
  return constant(g, g.float, dims, () => toFloat(g, load()), of);
}

export function cast(g: Graph, x: string, to: number): string {
  return op(g, 'Cast', [x], { to });
}

/** Casts activations to float32 if necessary. */
export function toFloat32(g: Graph, x: string): string {
  return g.float === 'float32' ? x : cast(g, x, ELEMENT.float32);
}

/** Casts float32 to the activations' type. */
export function toActivation(g: Graph, x: string): string {
  return g.float === 'float32' ? x : cast(g, x, ELEMENT.float16);
}

export function norm(g: Graph, x: string, name: string): string {
  const inputs = [x, weight(g, `${name}.weight`), weight(g, `${name}.bias`)];
  return op(g, 'LayerNormalization', inputs, { axis: -1, epsilon: { float: EPSILON } });
}

export function gelu(g: Graph, x: string): string {
  return op(g, 'Gelu', [x], {}, MICROSOFT);
}

/** Slice [from, to) of one axis. */
export function slice(g: Graph, x: string, from: number, to: number, axis: number): string {
  return op(g, 'Slice', [x, ints(g, from), ints(g, to), ints(g, axis)]);
}

function toFloat(g: Graph, values: Float32Array): Float32Array | Uint16Array {
  return g.float === 'float16' ? toFloat16(values) : values;
}
