import type { Recipe } from '../../descriptor.ts';
import * as graph from '../graph/graph.ts';
import { type Graph, index, input, ints, norm, op, output, weight } from '../graph/graph.ts';
import { feedForward, quantisedBy } from '../graph/linear.ts';
import { ELEMENT } from '../graph/onnx.ts';
import { addCrossAttention, addSelfAttention } from './attention.ts';
import type { ModelDimensions } from './config.ts';

/**
 * Adds one decoder step for B rows, which may be at different positions: Q new tokens, P cached ones.
 *
 * Inputs: `tokens`, `pos` int64 [B, Q]; `mask` [B, 1, Q, P+Q] (0 or -1e9); `asked` int64 [R]: the rows for which text logits are computed,
 * all or none; per layer l the cache `pk{l}` [B, H, hd, P], `pv{l}` [B, H, P, hd] and the encoder's outputs. All float32 except the
 * encoder's.
 *
 * Outputs: `nk{l}`, `nv{l}` [B, H, Q, hd], only the NEW entries of the cache; and for the last position, everything that greedy decoding
 * needs, so that the decoding rules stay outside the graph: `special` [B, X], the logits from end-of-text on (special tokens, then
 * timestamps); over the text tokens, without suppressed ones, the argmax `textId` int64 [R], its logit `textMax` and the log-sum-exp
 * `textLse` [R]. `text` [R, E], the text logits: fetch them only for beam search and sampling, they are large. `align` [B, A, S]: the
 * cross-attention of the A alignment heads, ordered by layer and head, each row summing to 1; it belongs to the predicted token.
 */
export function addDecoder(g: Graph, model: ModelDimensions, recipe: Recipe): void {
  const tokens = input(g, 'tokens', 'int64', ['B', 'Q']);
  const positions = input(g, 'pos', 'int64', ['B', 'Q']);
  input(g, 'asked', 'int64', ['R']);
  input(g, 'mask', 'float32', ['B', 1, 'Q', 'N']);
  const { endOfText, vocabulary } = model;
  const text = embedding(g, 0, endOfText, suppressed(g, model));
  const special = embedding(g, endOfText, vocabulary);
  const position = op(g, 'Gather', [weight(g, 'model.decoder.embed_positions.weight'), positions]);
  let x = op(g, 'Add', [lookUp(g, tokens, text, special, endOfText), position]);
  const align: string[] = [];
  for (let l = 0; l < model.decoderLayers; l++) {
    x = addSelfAttention(g, x, l, model);
    const cross = addCrossAttention(g, x, l, model, recipe);
    align.push(...cross.align);
    x = feedForward(g, cross.x, `model.decoder.layers.${l}`);
  }
  const last = op(g, 'Gather', [norm(g, x, 'model.decoder.layer_norm'), index(g, -1)], { axis: 1 });
  output(g, 'special', special.logits(last), 'float32', ['B', vocabulary - endOfText]);
  addText(g, output(g, 'text', text.logits(op(g, 'Gather', [last, 'asked'])), 'float32', ['R', endOfText]), endOfText);
  output(g, 'align', op(g, 'Concat', align, { axis: 1 }), 'float32', ['B', model.alignmentHeads.length, 'S']);
}

/** A part of the token embedding, shared with the output projection and stored once. `logits` returns float32. */
interface Embedding {
  lookUp(tokens: string): string;
  logits(x: string): string;
}

const EMBEDDING = 'model.decoder.embed_tokens.weight';

/** The embedding of the ids [from, to); its indices start at `from`. */
function embedding(g: Graph, from: number, to: number, bias?: string): Embedding {
  const width = g.checkpoint.shape(EMBEDDING)[1]!;
  const load = () => g.checkpoint.float32(EMBEDDING).subarray(from * width, to * width);
  return g.peak > 0 ? int8Embedding(g, [to - from, width], load, bias) : floatEmbedding(g, [to - from, width], load, bias);
}

function int8Embedding(g: Graph, dims: [number, number], load: () => Float32Array, bias?: string): Embedding {
  const [values, scales, zeros] = quantisedBy(g, dims, load, EMBEDDING);
  return {
    lookUp(tokens) {
      const rows = op(g, 'Transpose', [op(g, 'Gather', [values, tokens], { axis: 1 })], { perm: [1, 2, 0] });
      const scale = op(g, 'Unsqueeze', [op(g, 'Gather', [scales, tokens]), ints(g, 2)]);
      return op(g, 'Mul', [graph.cast(g, rows, ELEMENT.float32), scale]);
    },
    logits: (x) => op(g, 'DynamicQuantizeMatMul', [x, values, scales, zeros, ...(bias ? [bias] : [])], {}, graph.MICROSOFT),
  };
}

function floatEmbedding(g: Graph, dims: [number, number], load: () => Float32Array, bias?: string): Embedding {
  const matrix = graph.floats(g, dims, load);
  return {
    lookUp: (tokens) => op(g, 'Gather', [matrix, tokens]),
    logits: (x) => graph.toFloat32(g, op(g, 'Gemm', [x, matrix, ...(bias ? [bias] : [])], { transB: 1 })),
  };
}

/** Looks up tokens of both parts. */
function lookUp(g: Graph, tokens: string, text: Embedding, special: Embedding, endOfText: number): string {
  const id = (value: number) => index(g, value);
  const words = text.lookUp(op(g, 'Min', [tokens, id(endOfText - 1)]));
  const others = special.lookUp(op(g, 'Max', [op(g, 'Sub', [tokens, id(endOfText)]), id(0)]));
  const isText = op(g, 'Unsqueeze', [op(g, 'Less', [tokens, id(endOfText)]), ints(g, 2)]);
  return op(g, 'Where', [isText, words, others]);
}

const FORBIDDEN = -60_000; // logit; representable in half precision

/** A bias [E] that suppresses tokens a transcript never contains. Added by the product at no cost. */
function suppressed(g: Graph, { endOfText, suppressed }: ModelDimensions): string {
  return graph.floats(g, [endOfText], () => {
    const bias = new Float32Array(endOfText);
    for (const id of suppressed) if (id < endOfText) bias[id] = FORBIDDEN;
    return bias;
  });
}

const PIECES = 64; // maximum per row of logits

/** Statistics of the text logits `z` [R, E] for the decoding rules. */
function addText(g: Graph, z: string, endOfText: number): void {
  // ArgMax takes seven times as long as ReduceMax, so apply it to only one piece of each row.
  const pieces = largestDivisor(endOfText, PIECES);
  const each = endOfText / pieces;
  const rows = op(g, 'Reshape', [z, ints(g, 0, pieces, each)]);
  const tops = op(g, 'ReduceMax', [rows, ints(g, 2)], { keepdims: 0 });
  const piece = op(g, 'ArgMax', [tops], { axis: 1, keepdims: 1 });
  const within = op(g, 'ArgMax', [op(g, 'GatherND', [rows, piece], { batch_dims: 1 })], { axis: 1, keepdims: 1 });
  const best = op(g, 'Add', [op(g, 'Mul', [piece, index(g, each)]), within]);
  output(g, 'textId', op(g, 'Squeeze', [best, ints(g, 1)]), 'int64', ['R']);
  output(g, 'textMax', op(g, 'ReduceMax', [tops, ints(g, 1)], { keepdims: 0 }), 'float32', ['R']);
  // Log-sum-exp from one vectorised softmax: ReduceLogSumExp is five times slower.
  const p = op(g, 'GatherElements', [op(g, 'Softmax', [z], { axis: -1 }), best], { axis: 1 });
  output(g, 'textLse', op(g, 'Sub', ['textMax', op(g, 'Log', [op(g, 'Squeeze', [p, ints(g, 1)])])]), 'float32', ['R']);
}

function largestDivisor(n: number, most: number): number {
  let divisor = most;
  while (n % divisor) divisor--;
  return divisor;
}
