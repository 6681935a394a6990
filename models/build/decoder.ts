import { addCrossAttention, addSelfAttention } from './attention.ts';
import type { Whisper } from './config.ts';
import * as graph from './graph.ts';
import { type Graph, index, input, ints, norm, op, output, scalar, weight } from './graph.ts';
import { ELEMENT } from './onnx.ts';

/**
 * Adds one decoder step for B rows, which may be at different positions. B rows, Q new tokens, P cached ones.
 * Inputs: `tokens`, `pos` int64 [B, Q]; `bias` [B, V] (0 or -1e9: forbidden tokens); `mask` [B, 1, Q, P+Q] (0 or -1e9);
 * per layer l the cache `pk{l}` [B, H, hd, P], `pv{l}` [B, H, P, hd] and the encoder's outputs. All float32 beside the encoder's.
 * Outputs: `nk{l}`, `nv{l}` [B, H, Q, hd], only the NEW rows of the cache; and for the last position all that greedy decoding with timestamp
 * rules needs: `textId`, `timeId` int64 [B], `textMax`, `timeMax`, `timeLse`, `lse` [B]. The log-probability of a choice is its max - lse.
 * `logits` [B, V], with bias: fetch them only for beams and temperatures, they are large. `special` [B, X]: the logits from end-of-text up to the
 * first timestamp; after a step on <|startoftranscript|> alone, exp(special - lse) holds the probabilities of the languages and of <|nospeech|>.
 * `align` [B, A, S]: the cross-attention of the A alignment heads, in order of layer and head, each row summing to 1; it belongs to the token that
 * the step predicts.
 */
export function addDecoder(g: Graph, model: Whisper): void {
  const tokens = input(g, 'tokens', 'int64', ['B', 'Q']);
  const positions = input(g, 'pos', 'int64', ['B', 'Q']);
  input(g, 'bias', 'float32', ['B', model.vocabulary]);
  input(g, 'mask', 'float32', ['B', 1, 'Q', 'N']);
  const embedding = g.peak > 0 ? int8Embedding(g) : floatEmbedding(g);
  const position = op(g, 'Gather', [weight(g, 'model.decoder.embed_positions.weight'), positions]);
  let x = op(g, 'Add', [embedding.lookUp(tokens), position]);
  const align: string[] = [];
  for (let l = 0; l < model.decoderLayers; l++) {
    x = addSelfAttention(g, x, l, model);
    const cross = addCrossAttention(g, x, l, model);
    align.push(...cross.align);
    x = graph.feedForward(g, cross.x, `model.decoder.layers.${l}`);
  }
  const last = op(g, 'Gather', [norm(g, x, 'model.decoder.layer_norm'), index(g, -1)], { axis: 1 });
  addChoices(g, output(g, 'logits', op(g, 'Add', [embedding.logits(last), 'bias']), 'float32', ['B', model.vocabulary]), model);
  output(g, 'align', op(g, 'Concat', align, { axis: 1 }), 'float32', ['B', model.alignmentHeads.length, 'S']);
}

/** The token embedding, shared with the output projection: held once. `logits` gives float32 [B, V]. */
interface Embedding {
  lookUp(tokens: string): string;
  logits(x: string): string;
}

const EMBEDDING = 'model.decoder.embed_tokens.weight';

function int8Embedding(g: Graph): Embedding {
  const [values, scales, zeros] = graph.quantised(g, EMBEDDING);
  return {
    lookUp(tokens) {
      const rows = op(g, 'Transpose', [op(g, 'Gather', [values, tokens], { axis: 1 })], { perm: [1, 2, 0] });
      const scale = op(g, 'Unsqueeze', [op(g, 'Gather', [scales, tokens]), ints(g, 2)]);
      return op(g, 'Mul', [graph.cast(g, rows, ELEMENT.float32), scale]);
    },
    logits: (x) => op(g, 'DynamicQuantizeMatMul', [x, values, scales, zeros], {}, graph.MICROSOFT),
  };
}

function floatEmbedding(g: Graph): Embedding {
  const matrix = weight(g, EMBEDDING);
  return {
    lookUp: (tokens) => op(g, 'Gather', [matrix, tokens]),
    logits: (x) => graph.toFloat32(g, op(g, 'Gemm', [x, matrix], { transB: 1 })),
  };
}

/** What a decoding rule wants to know of the logits `z` [B, V]. */
function addChoices(g: Graph, z: string, { endOfText, firstTimestamp, vocabulary }: Whisper): void {
  const text = graph.slice(g, z, 0, firstTimestamp, 1);
  const time = graph.slice(g, z, firstTimestamp, vocabulary, 1);
  for (const [name, logits] of [
    ['text', text],
    ['time', time],
  ] as const) {
    output(g, `${name}Id`, op(g, 'ArgMax', [logits], { axis: 1, keepdims: 0 }), 'int64', ['B']);
    output(g, `${name}Max`, op(g, 'ReduceMax', [logits, ints(g, 1)], { keepdims: 0 }), 'float32', ['B']);
  }
  // Log-sum-exp from one vectorised softmax: the ReduceLogSumExp operator is five times slower.
  const p = op(g, 'Softmax', [z], { axis: -1 });
  const most = op(g, 'ReduceMax', [p, ints(g, 1)], { keepdims: 0 });
  const lse = output(g, 'lse', op(g, 'Sub', [op(g, 'Max', ['textMax', 'timeMax']), op(g, 'Log', [most])]), 'float32', ['B']);
  const timed = op(g, 'ReduceSum', [graph.slice(g, p, firstTimestamp, vocabulary, 1), ints(g, 1)], { keepdims: 0 });
  output(g, 'timeLse', op(g, 'Add', [lse, op(g, 'Log', [op(g, 'Max', [timed, scalar(g, 1e-30)])])]), 'float32', ['B']);
  output(g, 'special', graph.slice(g, z, endOfText, firstTimestamp, 1), 'float32', ['B', firstTimestamp - endOfText]);
}
