import { MICROSOFT } from '../../build/graph/graph.ts';
import { LOWEST_SWISH } from '../../build/graph/linear.ts';
import {
  byteLength,
  type Constant,
  ELEMENT,
  type Element,
  encodeNode,
  encodeOpset,
  MODEL_GRAPH,
  type Node,
  prefix,
} from '../../build/graph/onnx.ts';
import { quantise, transpose } from '../../build/graph/quantise.ts';
import { type WriteOptions, type WrittenFile, writeParts } from '../../build/graph/write.ts';
import { type LinearLayer, linearLayers } from './layers.ts';
import { withoutMasks } from './masks.ts';
import { bytesAt, type FileTensor, floatsOf, type OnnxFile, openOnnx } from './onnx-file.ts';

/*
 * Our 8-bit form of a published float32 or float16 network: its linear layers multiply 8-bit numbers, all other operators stay as they are. Unlike the
 * 8-bit files that are published with such models, each output has a scale of its own, convolutions of one frame are products as well,
 * layers with the same input quantise it once, those at the ends stay exact, and nothing is masked, because windows have no padding.
 */

const NODE = 1; // a graph's field in the ONNX schema
const MODEL_OPSET = 8; // a model's
const CHANNELS_LAST = [0, 2, 1];
const LOWEST = 'lowest-swish'; // name of a constant: minus the minimum of x sigmoid(x), so that negative values need not be scanned
const LAST_AXIS = 'last-axis'; // name of a constant
const AXES_AS_INPUT = 18;
const STREAMED = 1024; // bytes: smaller weights are copied with their messages

export interface EightBitOptions extends WriteOptions {
  /** Whether this CPU's sums of 8-bit products saturate. */
  saturates: boolean;
  /**
   * Layers that stay in float32: the first one, whose input no norm has levelled, causes 98 % of the error of all, the last one, which tells
   * tokens apart, half of the rest (docs/decisions/speech-recognition.md). Together they take 1 % of the time.
   */
  exact?: readonly ('first' | 'last')[];
}

/** Whether a network has layers to convert, besides those that stay exact. */
export function isConvertible(path: string): boolean {
  return linearLayers(openOnnx(path)).length > ENDS;
}

const ENDS = 2;

/** Writes the 8-bit form of the network `from` to `to`. Weights too large for one file go to `<to>.data`. */
export async function toEightBits(from: string, to: string, options: EightBitOptions): Promise<WrittenFile[]> {
  const { saturates, exact = [] } = options;
  const file = withoutMasks(openOnnx(from));
  const all = linearLayers(file);
  const layers = all.slice(exact.includes('first') ? 1 : 0, exact.includes('last') ? -1 : undefined);
  const constants: Constant[] = [];
  const nodes = rewritten(file, layers, constants, saturates);
  const replaced = new Set(layers.map(({ matrix }) => matrix.name));
  const kept = [...file.tensors.values()].filter(({ name }) => !replaced.has(name));
  const streamed = kept.filter(isStreamed);
  constants.push(
    { name: LOWEST, element: 'float32', dims: [], load: () => Float32Array.of(LOWEST_SWISH) },
    { name: LAST_AXIS, element: 'int64', dims: [1], load: () => BigInt64Array.of(-1n) },
  );
  constants.push(...streamed.map(copied));
  const fields = [
    ...nodes.map((bytes) => framed(NODE, bytes)),
    ...file.graph,
    ...kept.filter((tensor) => !isStreamed(tensor)).map(({ whole }) => bytesAt(whole)),
  ];
  const opsets = Object.entries({ ...file.opsets, [MICROSOFT]: 1 }).map(([domain, version]) =>
    framed(MODEL_OPSET, encodeOpset(domain, version)),
  );
  const size = fields.reduce((sum, { length }) => sum + length, 0);
  const encode = (bytes: number) => Buffer.concat([...file.model, ...opsets, prefix(MODEL_GRAPH, size + bytes), ...fields]);
  return writeParts(to, { constants, encode }, options);
}

/** The messages of all operators, with those of the layers replaced. Adds the layers' weights to `constants`. */
function rewritten(file: OnnxFile, layers: readonly LinearLayer[], constants: Constant[], saturates: boolean): Uint8Array[] {
  const byNode = new Map(layers.map((layer) => [layer.node, layer]));
  const additions = new Set(layers.map(({ addition }) => addition));
  const sources = layers.map(sourceOf);
  const quantised = new Map<string, string[]>();
  return file.nodes.flatMap((node) => {
    if (additions.has(node)) return [];
    const layer = byNode.get(node);
    if (!layer) return [node.bytes];
    const source = sourceOf(layer);
    const shared = sources.indexOf(source) !== sources.lastIndexOf(source);
    const before = shared && !quantised.has(source) ? quantisation(layer, quantised) : [];
    return [...before, ...product(layer, weightsOf(layer, constants, saturates), file.opsets['']!, quantised.get(source))].map(encodeNode);
  });
}

/** Layers with the same source share its quantisation. */
function sourceOf({ input, channelsFirst, half }: LinearLayer): string {
  return `${input}${channelsFirst ? '/last' : ''}${half ? '/float' : ''}`;
}

/** The operators that quantise the input of several layers. */
function quantisation(layer: LinearLayer, quantised: Map<string, string[]>): Node[] {
  const source = sourceOf(layer);
  const outputs = ['bytes', 'scale', 'zero'].map((part) => `${source}/${part}`);
  quantised.set(source, outputs);
  return [...prepared(layer, source), operator('DynamicQuantizeLinear', [source], outputs)];
}

/** The operators that bring a layer's input into the form of a product, [.. x inputs] in float32; none if it has it. */
function prepared({ input, channelsFirst, half }: LinearLayer, to: string): Node[] {
  const turned = half && channelsFirst ? `${to}/turned` : half ? input : to;
  return [...(channelsFirst ? [transposition(input, turned)] : []), ...(half ? [cast(turned, to, ELEMENT.float32)] : [])];
}

/** The operators of a layer. @param quantised its input's bytes, scale and zero point, if they are there already */
function product(layer: LinearLayer, { matrix, bias }: Weights, opset: number, quantised?: string[]): Node[] {
  const { channelsFirst, half, output } = layer;
  const plain = !channelsFirst && !half;
  const [own, result] = plain ? [layer.input, output] : [`${output}/input`, `${output}/product`];
  const [values, scales, zeros] = matrix;
  const [bytes, scale, zero] = quantised ?? [];
  const turned = half && channelsFirst ? `${output}/half` : half ? output : result;
  return [
    ...(plain || quantised ? [] : prepared(layer, own)),
    ...(quantised
      ? [operator('MatMulIntegerToFloat', [bytes!, values, scale!, scales, zero!, zeros, ...bias], [result], MICROSOFT)]
      : layer.afterSwish
        ? byRow(own, matrix, bias, result, opset)
        : [operator('DynamicQuantizeMatMul', [own, ...matrix, ...bias], [result], MICROSOFT)]),
    ...(half ? [cast(result, turned, ELEMENT.float16)] : []),
    ...(channelsFirst ? [transposition(turned, output)] : []),
  ];
}

/**
 * A product with a scale for each row of activations. After a Swish, whose large values differ most between frames, it costs 5 % of the time
 * and removes up to 25 % of a network's error (docs/decisions/speech-recognition.md).
 */
function byRow(x: string, weights: [string, string, string], bias: string[], result: string, opset: number): Node[] {
  const part = (name: string) => `${result}/${name}`;
  return [
    largestOf(x, part('largest'), opset),
    operator('Max', [part('largest'), LOWEST], [part('size')]),
    operator('Div', [x, part('size')], [part('unit')]),
    operator('DynamicQuantizeMatMul', [part('unit'), ...weights], [part('product')], MICROSOFT),
    operator('Mul', [part('product'), part('size')], [bias.length ? part('sized') : result]),
    ...(bias.length ? [operator('Add', [part('sized'), ...bias], [result])] : []),
  ];
}

/** The maximum of each row. From version 18 of its operators on, ONNX takes the axes as an input. */
function largestOf(x: string, to: string, opset: number): Node {
  return opset < AXES_AS_INPUT
    ? { ...operator('ReduceMax', [x], [to]), attributes: { axes: [-1], keepdims: 1 } }
    : { ...operator('ReduceMax', [x, LAST_AXIS], [to]), attributes: { keepdims: 1 } };
}

function transposition(from: string, to: string): Node {
  return { ...operator('Transpose', [from], [to]), attributes: { perm: CHANNELS_LAST } };
}

function cast(from: string, to: string, element: number): Node {
  return { ...operator('Cast', [from], [to]), attributes: { to: element } };
}

function operator(op: string, inputs: string[], outputs: string[], domain = ''): Node {
  return { op, domain, inputs, outputs, attributes: {} };
}

/** Names of a layer's weights: values [inputs x outputs], scales and zero points [outputs]; and of its bias, if it has one. */
interface Weights {
  matrix: [values: string, scales: string, zeros: string];
  bias: string[];
}

/** Adds a layer's weights in 8 bits, and its bias in float32. */
function weightsOf({ matrix, inputs, outputs, byOutput, bias, half }: LinearLayer, constants: Constant[], saturates: boolean): Weights {
  let made: ReturnType<typeof quantise> | undefined;
  const load = () => {
    const values = floatsOf(matrix);
    return quantise(byOutput ? values : transpose(values, inputs, outputs), outputs, inputs, saturates);
  };
  const names = ['values', 'scales', 'zeros'].map((part) => `${matrix.name}/${part}`) as Weights['matrix'];
  constants.push(
    { name: names[0], element: 'int8', dims: [inputs, outputs], load: () => (made = load()).values },
    { name: names[1], element: 'float32', dims: [outputs], load: () => made!.scales },
    { name: names[2], element: 'int8', dims: [outputs], load: () => new Int8Array(outputs) },
  );
  if (!bias || !half) return { matrix: names, bias: bias ? [bias.name] : [] };
  const float = `${matrix.name}/bias`;
  constants.push({ name: float, element: 'float32', dims: [outputs], load: () => floatsOf(bias) });
  return { matrix: names, bias: [float] };
}

/** Whether a weight is written number by number: large ones, and those in other files, which are not copied. */
function isStreamed({ data, whole }: FileTensor): boolean {
  return data !== null && (data.path !== whole.path || data.length >= STREAMED);
}

function copied(tensor: FileTensor): Constant {
  const { name, dims, type, data } = tensor;
  const element = (Object.keys(ELEMENT) as Element[]).find((one) => ELEMENT[one] === type);
  if (!element)
    throw new Error(`the weight ${name} has the element type ${type} of ONNX, which cannot be copied; import it with --variant float32`);
  const constant: Constant = { name, element, dims, load: () => bytesAt(data!) };
  const wanted = byteLength(constant);
  if (data!.length !== wanted)
    throw new Error(`the weight ${name} has ${data!.length} bytes, wanted ${wanted} for [${dims}]; download the model again`);
  return constant;
}

function framed(field: number, bytes: Uint8Array): Uint8Array {
  return Buffer.concat([prefix(field, bytes.length), bytes]);
}
