import type { Recipe } from '../../descriptor.ts';
import * as graph from '../graph/graph.ts';
import { constant, type Graph, index, input, ints, norm, op, output, scalar } from '../graph/graph.ts';
import { linear } from '../graph/linear.ts';
import { ELEMENT } from '../graph/onnx.ts';
import { BLOCK, framesPerKey, type ModelDimensions } from './config.ts';

/**
 * Self-attention of decoder layer `l` over the cache and the new tokens, always in float32: cache and mask are float32 inputs and outputs.
 */
export function addSelfAttention(g: Graph, x: string, l: number, { width, decoderHeads: H }: ModelDimensions): string {
  const layer = `model.decoder.layers.${l}`;
  const hd = width / H;
  const h = norm(g, x, `${layer}.self_attn_layer_norm`);
  const read = (n: string) => graph.toFloat32(g, linear(g, h, `${layer}.self_attn.${n}_proj`, n !== 'k'));
  const project = (n: string) => split(g, read(n), H, hd);
  const q = split(g, op(g, 'Mul', [read('q'), scalar(g, hd ** -0.5)]), H, hd); // scale here: onnxruntime would otherwise fuse the factor into a slow product
  const k = output(g, `nk${l}`, project('k'), 'float32', ['B', H, 'Q', hd]);
  const v = output(g, `nv${l}`, project('v'), 'float32', ['B', H, 'Q', hd]);
  const pastKeys = input(g, `pk${l}`, 'float32', ['B', H, hd, 'P']); // for a single query the product with the other layout takes three times as long
  const pastValues = input(g, `pv${l}`, 'float32', ['B', H, 'P', hd]);
  // The cache is never copied: concatenate the scores of old and new positions, not their keys and values (saves 1.6 ms per step of 8
  // rows).
  const scores = [op(g, 'MatMul', [q, pastKeys]), op(g, 'FusedMatMul', [q, k], { transB: 1 }, graph.MICROSOFT)];
  const weights = op(g, 'Softmax', [op(g, 'Add', [op(g, 'Concat', scores, { axis: 3 }), 'mask'])], { axis: -1 });
  const past = op(g, 'Shape', [pastKeys], { start: 3, end: 4 });
  const old = op(g, 'Slice', [weights, ints(g, 0), past, ints(g, 3)]);
  const fresh = op(g, 'Slice', [weights, past, ints(g, 1 << 30), ints(g, 3)]);
  const a = op(g, 'Add', [op(g, 'MatMul', [old, pastValues]), op(g, 'MatMul', [fresh, v])]);
  return op(g, 'Add', [x, linear(g, graph.toActivation(g, merge(g, a, width)), `${layer}.self_attn.out_proj`)]);
}

export interface CrossAttention {
  x: string;
  /** The weights of this layer's alignment heads [B, heads, S], if any. */
  align: string[];
}

/** Cross-attention of decoder layer `l` over the encoder's keys and values. */
export function addCrossAttention(g: Graph, x: string, l: number, model: ModelDimensions, recipe: Recipe): CrossAttention {
  const layer = `model.decoder.layers.${l}`;
  const { width, decoderHeads: H } = model;
  const heads = model.alignmentHeads.filter(([of]) => of === l).map(([, head]) => head);
  const mine = heads.sort((a, b) => a - b);
  const q = split(g, linear(g, norm(g, x, `${layer}.encoder_attn_layer_norm`), `${layer}.encoder_attn.q_proj`), H, width / H);
  const shape: HeadShape = { l, H, hd: width / H, heads: mine, S: graph.frames(framesPerKey(recipe, g.variant, l)) };
  const { result, align } = g.peak > 0 ? attendToBytes(g, q, shape, recipe.scales.queries) : attendFloat(g, q, shape);
  return { x: op(g, 'Add', [x, linear(g, merge(g, result, width), `${layer}.encoder_attn.out_proj`)]), align };
}

/** Shape of one layer's attention: `heads` are its alignment heads, `S` names the dimension of its keys. */
interface HeadShape {
  l: number;
  H: number;
  hd: number;
  heads: number[];
  S: string;
}

interface Attended {
  /** [B, H, Q, hd] */
  result: string;
  align: string[];
}

/**
 * On int8 keys and values: 2.5x faster per step than the stock operator, same word error rate. Exponentials are quantised BEFORE
 * normalisation.
 */
function attendToBytes(g: Graph, q: string, { l, H, hd, heads, S }: HeadShape, queries: Recipe['scales']['queries']): Attended {
  const keys = input(g, `ck${l}`, 'int8', ['B', H, 1, `${S}/${BLOCK}`, hd, BLOCK]);
  const sums = input(g, `cs${l}`, 'float32', ['B', H, 1, S]);
  const values = input(g, `cv${l}`, 'int8', ['B', H, S, hd]);
  const keyScales = input(g, `ksc${l}`, 'float32', ['B', H, 1, hd]);
  const valueScales = input(g, `vsc${l}`, 'float32', ['B', H, 1, hd]);
  const scaled = op(g, 'Mul', [op(g, 'Mul', [q, keyScales]), scalar(g, hd ** -0.5)]);
  const { bytes, scale, zero } = queries === 'row' ? bytesByRow(g, scaled) : bytesTogether(g, scaled);
  const byBlock = op(g, 'MatMulInteger', [op(g, 'Unsqueeze', [bytes, ints(g, 3, 4)]), keys]); // [B, H, Q, blocks, 1, BLOCK]
  const products = graph.cast(g, op(g, 'Reshape', [byBlock, ints(g, 0, 0, 0, -1)]), ELEMENT.float32);
  const offset = op(g, 'Mul', [sums, zero()]);
  const scores = op(g, 'Mul', [op(g, 'Sub', [products, offset]), scale]);
  const e = op(g, 'Exp', [op(g, 'Sub', [scores, op(g, 'ReduceMax', [scores, ints(g, 3)], { keepdims: 1 })])]); // 0 to 1, unnormalised
  const step = scalar(g, 1 / 255);
  const quantised = op(g, 'QuantizeLinear', [e, step, constant(g, 'uint8', [], () => Uint8Array.of(0))]);
  const mixed = graph.cast(g, op(g, 'MatMulInteger', [quantised, values]), ELEMENT.float32);
  const total = op(g, 'Mul', [op(g, 'ReduceSum', [e, ints(g, 3)], { keepdims: 1 }), scalar(g, 255)]);
  const result = op(g, 'Mul', [op(g, 'Div', [mixed, total]), valueScales]);
  const align = pick(g, e, heads).map((rows) => op(g, 'Div', [rows, op(g, 'ReduceSum', [rows, ints(g, 2)], { keepdims: 1 })]));
  return { result, align };
}

/** A quantised tensor: (byte - zero) * scale; `zero` is added as float32. */
interface Bytes {
  bytes: string;
  scale: string;
  zero: () => string;
}

/** Quantises with one scale for all rows and heads. */
function bytesTogether(g: Graph, x: string): Bytes {
  const [bytes, scale, zero] = graph.ops(g, 'DynamicQuantizeLinear', [x], 3) as [string, string, string];
  return { bytes, scale, zero: () => graph.cast(g, zero, ELEMENT.float32) };
}

const MIDDLE = 128; // zero point
const TINY = 1e-9;

/** Quantises with a scale per row and head of [B, H, Q, hd]: some heads have queries 100 times as large as others. */
function bytesByRow(g: Graph, x: string): Bytes {
  const largest = op(g, 'ReduceMax', [op(g, 'Abs', [x]), ints(g, 3)], { keepdims: 1 });
  const scale = op(g, 'Max', [op(g, 'Mul', [largest, scalar(g, 1 / (MIDDLE - 1))]), scalar(g, TINY)]);
  const middle = constant(g, 'uint8', [], () => Uint8Array.of(MIDDLE));
  const bytes = op(g, 'QuantizeLinear', [op(g, 'Div', [x, scale]), scalar(g, 1), middle]);
  return { bytes, scale, zero: () => scalar(g, MIDDLE) };
}

function attendFloat(g: Graph, q: string, { l, H, hd, heads }: HeadShape): Attended {
  const keys = input(g, `ck${l}`, g.float, ['B', H, hd, 'S']);
  const values = input(g, `cv${l}`, g.float, ['B', H, 'S', hd]);
  const scores = op(g, 'FusedMatMul', [q, keys], { alpha: { float: hd ** -0.5 } }, graph.MICROSOFT);
  const weights = op(g, 'Softmax', [graph.toFloat32(g, scores)], { axis: -1 });
  return { result: op(g, 'MatMul', [graph.toActivation(g, weights), values]), align: pick(g, weights, heads) };
}

/** The last position's rows of some heads: [B, H, Q, S] -> [B, heads, S]; empty without heads. */
function pick(g: Graph, weights: string, heads: number[]): string[] {
  if (heads.length === 0) return [];
  return [op(g, 'Gather', [op(g, 'Gather', [weights, index(g, -1)], { axis: 2 }), ints(g, ...heads)], { axis: 1 })];
}

/** [B, Q, D] -> [B, H, Q, hd] */
function split(g: Graph, x: string, H: number, hd: number): string {
  return op(g, 'Transpose', [op(g, 'Reshape', [x, ints(g, 0, 0, H, hd)])], { perm: [0, 2, 1, 3] });
}

/** [B, H, Q, hd] -> [B, Q, D] */
function merge(g: Graph, x: string, width: number): string {
  return op(g, 'Reshape', [op(g, 'Transpose', [x], { perm: [0, 2, 1, 3] }), ints(g, 0, 0, width)]);
}
