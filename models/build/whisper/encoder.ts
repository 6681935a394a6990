import type { Recipe } from '../../descriptor.ts';
import { convolution } from '../graph/convolution.ts';
import * as graph from '../graph/graph.ts';
import { constant, type Graph, index, ints, norm, op, output, scalar, weight } from '../graph/graph.ts';
import { feedForward, linear, linearByRow, linears } from '../graph/linear.ts';
import { ELEMENT, type Port } from '../graph/onnx.ts';
import { BLOCK, framesPerKey, type ModelDimensions } from './config.ts';
import { BY_CHANNEL, BY_TIME, encoderSelfAttention, heads, pooled, quantiseChannels } from './heads.ts';
import { FFT, foldedFilters, foldedKernels, HALF } from './mel.ts';

/**
 * Adds the encoder. Input `frames` [B, 4, F, 100] float32: 25 ms frames of samples, one every `hop` samples of the recipe, folded by
 * engine/asr/whisper/frames.ts; S = F / 2 steps, at most 1500, a multiple of 50 (20 or 22 ms each).
 *
 * Outputs per decoder layer l: cross-attention keys `ck{l}` [B, H, hd, S] and values `cv{l}` [B, H, S, hd]. In the int8 variants both are
 * int8, with `ksc{l}`, `vsc{l}` [B, H, 1, hd] float32 (scales per window, head and channel) and `cs{l}` [B, H, 1, S] float32 (column sums
 * of ck); pooled layers have S/2 keys and values; and keys are stored in blocks, the last one zero-padded: [B, H, 1, S/BLOCK, hd, BLOCK].
 * In the float variants both have the variant's type, without scales.
 */
export function addEncoder(g: Graph, model: ModelDimensions, recipe: Recipe): void {
  const attend: Attention =
    g.peak > 0 ? (projections, l) => encoderSelfAttention(g, projections, model, recipe.coarseHeads[l] ?? []) : plainAttention(g, model);
  addCrossAttention(g, addLayers(g, model, attend), model, recipe);
}

/** Attention of a layer over its queries, keys and values, each [B, S, D]; `x` is what they are added to. */
export type Attention = (projections: [q: string, k: string, v: string], l: number, x: string) => string;

/** Attention of the float variants. */
export function plainAttention(g: Graph, { encoderHeads }: ModelDimensions): Attention {
  return (projections) => op(g, 'MultiHeadAttention', projections, { num_heads: encoderHeads }, graph.MICROSOFT);
}

/** From the frames to the output of the last norm [B, S, D]. */
export function addLayers(g: Graph, model: ModelDimensions, attend: Attention): string {
  let x = graph.toActivation(g, logMel(g, graph.input(g, 'frames', 'float32', ['B', 4, 'F', FFT / 4]), model.melBins));
  x = graph.gelu(g, convolution(g, x, 'model.encoder.conv1', 1));
  x = graph.gelu(g, convolution(g, x, 'model.encoder.conv2', 2));
  const steps = op(g, 'Shape', [x], { start: 1, end: 2 });
  x = op(g, 'Add', [x, op(g, 'Slice', [weight(g, 'model.encoder.embed_positions.weight'), ints(g, 0), steps, ints(g, 0)])]);
  for (let l = 0; l < model.encoderLayers; l++) x = addLayer(g, x, l, model.width, attend);
  return norm(g, x, 'model.encoder.layer_norm');
}

/** Log-mel features [B, F, mels] of folded frames, always float32. */
function logMel(g: Graph, frames: string, mels: number): string {
  const parts = op(g, 'MatMul', [frames, constant(g, 'float32', [4, FFT / 4, HALF], foldedKernels)]); // [B, 4, F, HALF]
  const [even, odd] = [graph.slice(g, parts, 0, 2, 1), graph.slice(g, parts, 2, 4, 1)]; // real and imaginary parts, for taps at even and odd distances
  const spectrum = op(g, 'Concat', [op(g, 'Add', [even, odd]), op(g, 'Sub', [even, odd])], { axis: 3 });
  const squares = op(g, 'Mul', [spectrum, spectrum]);
  const [real, imaginary] = [0, 1].map((part) => op(g, 'Gather', [squares, index(g, part)], { axis: 1 })) as [string, string];
  let x = op(g, 'MatMul', [op(g, 'Add', [real, imaginary]), constant(g, 'float32', [2 * HALF, mels], () => foldedFilters(mels))]);
  x = op(g, 'Mul', [op(g, 'Log', [op(g, 'Max', [x, scalar(g, 1e-10)])]), scalar(g, 1 / Math.LN10)]);
  const floor = op(g, 'Sub', [op(g, 'ReduceMax', [x, ints(g, 1, 2)], { keepdims: 1 }), scalar(g, 8)]);
  return op(g, 'Mul', [op(g, 'Add', [op(g, 'Max', [x, floor]), scalar(g, 4)]), scalar(g, 0.25)]);
}

function addLayer(g: Graph, x: string, l: number, width: number, attend: Attention): string {
  const layer = `model.encoder.layers.${l}`;
  const h = norm(g, x, `${layer}.self_attn_layer_norm`);
  const projections = ['q', 'k', 'v'].map((n) => ({ name: `${layer}.self_attn.${n}_proj`, bias: n !== 'k' }));
  const a = attend(linears(g, h, projections) as [string, string, string], l, x);
  const out = `${layer}.self_attn.out_proj`;
  const projected = (a: string) => (g.peak > 0 && isWide(width) ? linearByRow(g, a, out, 0) : linear(g, a, out));
  const onward = (x: string, a: string) => feedForward(g, op(g, 'Add', [x, projected(a)]), layer);
  return g.peak > 0 ? inStretches(g, width, [x, a], onward) : onward(x, a);
}

/**
 * Time slices of a window. For base, whose widest activations then fit the processor's cache, 25 take 5 % less time than one, and the encoder's
 * error is 17 % less, since each slice has its own scale. Wide matrices do not fit, and each slice reads them again: with 5 instead of 25, the
 * encoder takes 11 % less time at turbo's width, 1536, and 3 % less at 1024; at 768 none (measured on an AMD Zen 5).
 */
export function stretchesOf(width: number): number {
  return isWide(width) ? 5 : 25;
}

/** From here on time slices are long, and the rows of the matrix after attention get scales of their own, which makes up for them. */
const isWide = (width: number) => width >= 1024;

/** Applies `body` to each time slice of [B, S, D] for operations that need no other slice. */
function inStretches(g: Graph, width: number, tensors: [string, string], body: (x: string, y: string) => string): string {
  const steps = op(g, 'Shape', [tensors[0]], { start: 1, end: 2 });
  const shaped = (x: string, length: string) => op(g, 'Reshape', [x, op(g, 'Concat', [ints(g, -1), length, ints(g, width)], { axis: 0 })]);
  const stretch = op(g, 'Div', [steps, ints(g, stretchesOf(width))]);
  const slice = { element: 'float32' as const, dims: ['S', width] };
  const each = tensors.map((x): Port => ({ name: shaped(x, stretch), ...slice }));
  return shaped(
    graph.scan(g, each, slice, (x, y) => body(x!, y!)),
    steps,
  );
}

/** Keys and values for the decoder's cross-attention, computed once per window. */
function addCrossAttention(g: Graph, frames: string, model: ModelDimensions, recipe: Recipe): void {
  const all = Array.from({ length: model.decoderLayers }, (_, l) => l);
  const eachOf = (l: number) => framesPerKey(recipe, g.variant, l);
  for (const each of new Set(all.map(eachOf))) {
    const layers = all.filter((l) => eachOf(l) === each);
    const attention = (l: number) => `model.decoder.layers.${l}.encoder_attn`;
    const projections = layers.flatMap((l) => ['k', 'v'].map((kind) => ({ name: `${attention(l)}.${kind}_proj`, bias: kind === 'v' })));
    const projected = linears(g, pooled(g, frames, each, model.width), projections);
    layers.forEach((l, i) => {
      addKeys(g, projected[2 * i]!, l, graph.frames(each), model);
      addValues(g, projected[2 * i + 1]!, l, graph.frames(each), model);
    });
  }
}

function addKeys(g: Graph, y: string, l: number, S: string, { width, decoderHeads: H }: ModelDimensions): void {
  const hd = width / H;
  if (g.peak === 0) {
    output(g, `ck${l}`, heads(g, y, width, H, BY_CHANNEL), g.float, ['B', H, hd, S]);
    return;
  }
  const { bytes, scale } = quantiseChannels(g, y, width);
  const keys = heads(g, bytes, width, H, BY_CHANNEL);
  const ones = constant(g, 'uint8', [1, hd], () => new Uint8Array(hd).fill(1));
  output(g, `ksc${l}`, op(g, 'Reshape', [scale, ints(g, 0, H, 1, hd)]), 'float32', ['B', H, 1, hd]);
  output(g, `cs${l}`, graph.cast(g, op(g, 'MatMulInteger', [ones, keys]), ELEMENT.float32), 'float32', ['B', H, 1, S]);
  output(g, `ck${l}`, inBlocks(g, keys, H, hd), 'int8', ['B', H, 1, `${S}/${BLOCK}`, hd, BLOCK]);
}

function addValues(g: Graph, y: string, l: number, S: string, { width, decoderHeads: H }: ModelDimensions): void {
  const dims = ['B', H, S, width / H];
  if (g.peak === 0) {
    output(g, `cv${l}`, heads(g, y, width, H, BY_TIME), g.float, dims);
    return;
  }
  const { bytes, scale } = quantiseChannels(g, y, width);
  output(g, `vsc${l}`, op(g, 'Reshape', [scale, ints(g, 0, H, 1, width / H)]), 'float32', ['B', H, 1, width / H]);
  output(g, `cv${l}`, heads(g, bytes, width, H, BY_TIME), 'int8', dims);
}

/** Keys [B, H, hd, S] in blocks, the last one zero-padded: [B, H, 1, S/BLOCK, hd, BLOCK]. */
function inBlocks(g: Graph, keys: string, H: number, hd: number): string {
  const steps = op(g, 'Shape', [keys], { start: 3, end: 4 });
  const missing = op(g, 'Mod', [op(g, 'Neg', [steps]), ints(g, BLOCK)]); // Mod takes the divisor's sign
  const pads = op(g, 'Concat', [ints(g, 0, 0, 0, 0, 0, 0, 0), missing], { axis: 0 });
  const padded = op(g, 'Pad', [keys, pads, constant(g, 'int8', [], () => Int8Array.of(0))]);
  return op(g, 'Transpose', [op(g, 'Reshape', [padded, ints(g, 0, H, 1, hd, -1, BLOCK)])], { perm: [0, 1, 2, 4, 3, 5] });
}
