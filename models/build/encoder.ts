import { BLOCK, framesPerKey, hopOf, type Whisper } from './config.ts';
import { convolution } from './convolution.ts';
import * as graph from './graph.ts';
import { constant, type Graph, ints, linear, norm, op, output, scalar, weight } from './graph.ts';
import { BINS, dftKernels, FFT, melFilters } from './mel.ts';
import { ELEMENT, type Port } from './onnx.ts';

const SMALLEST = 1e-8; // a scale is never zero
const HALF_SECOND = 25; // steps

/**
 * Adds the encoder. Input `samples` [B, N] float32 at 16 kHz; S = N / (2 * `hopOf`), at most 1500, a multiple of 50 (20 or 22 ms a step).
 * Outputs per decoder layer l: cross-attention keys `ck{l}` [B, H, hd, S] and values `cv{l}` [B, H, S, hd]. In the int8 variants both are int8
 * with `ksc{l}`, `vsc{l}` [B, H, 1, hd] float32 (their scales: one per window, head and channel) and `cs{l}` [B, H, 1, S] float32 (column
 * sums of ck), layers of which `framesPerKey` says so have S/2 keys and values, and keys lie in blocks, the last filled up by zeros: [B, H, 1, S/BLOCK,
 * hd, BLOCK]. In the float variants both are of the variant's type and come alone.
 */
export function addEncoder(g: Graph, model: Whisper): void {
  const mel = logMel(g, graph.input(g, 'samples', 'float32', ['B', 'N']), model.melBins, hopOf(model, g.variant));
  let x = op(g, 'Transpose', [graph.toActivation(g, mel)], { perm: [0, 2, 1] });
  x = graph.gelu(g, convolution(g, x, 'model.encoder.conv1', 1));
  x = graph.gelu(g, convolution(g, x, 'model.encoder.conv2', 2));
  const steps = op(g, 'Shape', [x], { start: 1, end: 2 });
  x = op(g, 'Add', [x, op(g, 'Slice', [weight(g, 'model.encoder.embed_positions.weight'), ints(g, 0), steps, ints(g, 0)])]);
  for (let l = 0; l < model.encoderLayers; l++) x = addLayer(g, x, `model.encoder.layers.${l}`, model);
  x = norm(g, x, 'model.encoder.layer_norm');
  for (let l = 0; l < model.decoderLayers; l++) addCrossAttention(g, x, l, model);
}

/** The means of each `each` frames of [B, S, D]. */
function pooled(g: Graph, x: string, each: number, width: number): string {
  if (each === 1) return x;
  return op(g, 'ReduceMean', [op(g, 'Reshape', [x, ints(g, 0, -1, each, width)]), ints(g, 2)], { keepdims: 0 });
}

/** Log-mel features [B, mels, frames], always float32: a DFT as one strided convolution, 7-11 ms per 30 s, error below 3e-6. */
function logMel(g: Graph, samples: string, mels: number, hop: number): string {
  // centred frames; the padding on the right is short by one hop because Whisper drops the last frame
  let x = op(g, 'Pad', [op(g, 'Unsqueeze', [samples, ints(g, 1)]), ints(g, 0, 0, FFT / 2, 0, 0, FFT / 2 - hop)], { mode: 'reflect' });
  x = op(g, 'Conv', [x, constant(g, 'float32', [2 * BINS, 1, FFT], dftKernels)], { strides: [hop] });
  x = op(g, 'Mul', [x, x]);
  const power = op(g, 'Add', [graph.slice(g, x, 0, BINS, 1), graph.slice(g, x, BINS, 2 * BINS, 1)]);
  x = op(g, 'MatMul', [constant(g, 'float32', [mels, BINS], () => melFilters(mels)), power]);
  x = op(g, 'Mul', [op(g, 'Log', [op(g, 'Max', [x, scalar(g, 1e-10)])]), scalar(g, 1 / Math.LN10)]);
  const floor = op(g, 'Sub', [op(g, 'ReduceMax', [x, ints(g, 1, 2)], { keepdims: 1 }), scalar(g, 8)]);
  return op(g, 'Mul', [op(g, 'Add', [op(g, 'Max', [x, floor]), scalar(g, 4)]), scalar(g, 0.25)]);
}

function addLayer(g: Graph, x: string, layer: string, { width, encoderHeads: H }: Whisper): string {
  const h = norm(g, x, `${layer}.self_attn_layer_norm`);
  const [q, k, v] = ['q', 'k', 'v'].map((n) => linear(g, h, `${layer}.self_attn.${n}_proj`, n !== 'k')) as [string, string, string];
  const a = g.peak > 0 ? attendInt8(g, q, k, v, width, H) : op(g, 'MultiHeadAttention', [q, k, v], { num_heads: H }, graph.MICROSOFT);
  const onward = (x: string, a: string) => graph.feedForward(g, op(g, 'Add', [x, linear(g, a, `${layer}.self_attn.out_proj`)]), layer);
  return g.peak > 0 ? inStretches(g, width, [x, a], onward) : onward(x, a);
}

const STRETCHES = 25; // of time: 1.2 s each in a window of 30 s, whose widest activations, 0.5 MB, stay in the processor's cache

/**
 * Does to each stretch of [B, S, D] what needs no other one. Besides staying in the cache, each has its own scales when its activations are
 * quantised: the encoder's error falls by a sixth, its time by a twentieth.
 */
function inStretches(g: Graph, width: number, tensors: [string, string], body: (x: string, y: string) => string): string {
  const steps = op(g, 'Shape', [tensors[0]], { start: 1, end: 2 });
  const shaped = (x: string, length: string) => op(g, 'Reshape', [x, op(g, 'Concat', [ints(g, -1), length, ints(g, width)], { axis: 0 })]);
  const stretch = op(g, 'Div', [steps, ints(g, STRETCHES)]);
  const slice = { element: 'float32' as const, dims: ['S', width] };
  const each = tensors.map((x): Port => ({ name: shaped(x, stretch), ...slice }));
  return shaped(
    graph.scan(g, each, slice, (x, y) => body(x!, y!)),
    steps,
  );
}

const BLOCKS = 4; // of queries: the scores of a head and block are 2 MB in a window of 30 s; smaller ones are no faster

/**
 * Self-attention [B, S, D] on 8-bit keys, values and weights: a third faster than the runtime's own operator in float32, with the same word error
 * rate. Each head and block of queries runs by itself, because one product has one scale for its queries. The softmax has a scale for each ROW: with
 * one for all, flat rows would vanish beside peaked ones.
 */
function attendInt8(g: Graph, q: string, k: string, v: string, width: number, H: number): string {
  const hd = width / H;
  const keys = quantiseChannels(g, k, width);
  const values = quantiseChannels(g, v, width);
  const scaled = op(g, 'Mul', [q, op(g, 'Mul', [keys.scale, scalar(g, hd ** -0.5)])]);
  const one = scalar(g, 1);
  const steps = op(g, 'Shape', [q], { start: 1, end: 2 });
  const shaped = (x: string, ...dims: string[]) => op(g, 'Reshape', [x, op(g, 'Concat', dims, { axis: 0 })]);
  const each: Port[] = [
    { name: shaped(heads(g, scaled, width, H, BY_TIME), ints(g, -1), steps, ints(g, hd)), element: 'float32', dims: ['S', hd] },
    { name: shaped(heads(g, keys.bytes, width, H, BY_CHANNEL), ints(g, -1, hd), steps), element: 'int8', dims: [hd, 'S'] },
    { name: shaped(heads(g, values.bytes, width, H, BY_TIME), ints(g, -1), steps, ints(g, hd)), element: 'int8', dims: ['S', hd] },
  ];
  const mixed = graph.scan(g, each, { element: 'float32', dims: ['S', hd] }, (queries, keys, values) => {
    const blocks = graph.ops(g, 'Split', [queries!], BLOCKS, { axis: 0, num_outputs: BLOCKS }).map((block) => {
      const scores = op(g, 'DynamicQuantizeMatMul', [block, keys!, one], {}, graph.MICROSOFT);
      const shares = op(g, 'Softmax', [scores], { axis: -1 });
      const unit = op(g, 'Mul', [op(g, 'ReduceMax', [shares, ints(g, 1)], { keepdims: 1 }), scalar(g, 1 / 255)]);
      const bytes = op(g, 'QuantizeLinear', [shares, op(g, 'Reshape', [unit, ints(g, -1)])], { axis: 0 });
      return op(g, 'Mul', [graph.cast(g, op(g, 'MatMulInteger', [bytes, values!]), ELEMENT.float32), unit]);
    });
    return op(g, 'Concat', blocks, { axis: 0 });
  }); // [B * H, S, hd]
  const together = op(g, 'Transpose', [shaped(mixed, ints(g, -1, H), steps, ints(g, hd))], { perm: BY_TIME });
  return op(g, 'Mul', [op(g, 'Reshape', [together, ints(g, 0, 0, width)]), values.scale]);
}

/** Quantises [B, S, D] to int8 with one scale [B, 1, D] per window and channel. */
function quantiseChannels(g: Graph, x: string, width: number): { bytes: string; scale: string } {
  const parts = op(g, 'Reshape', [op(g, 'Abs', [x]), ints(g, 0, -1, HALF_SECOND, width)]); // in two steps: the runtime is slow over a long first axis
  const largest = op(g, 'ReduceMax', [op(g, 'ReduceMax', [parts, ints(g, 2)], { keepdims: 0 }), ints(g, 1)], { keepdims: 1 });
  const scale = op(g, 'Max', [op(g, 'Mul', [largest, scalar(g, 1 / g.peak)]), scalar(g, SMALLEST)]);
  const zero = constant(g, 'int8', [], () => Int8Array.of(0));
  return { bytes: op(g, 'QuantizeLinear', [op(g, 'Div', [x, scale]), scalar(g, 1), zero]), scale }; // it rounds and casts at once
}

const BY_TIME = [0, 2, 1, 3]; // [B, H, S, hd], and back
const BY_CHANNEL = [0, 2, 3, 1]; // [B, H, hd, S]

/** [B, S, D] by heads, in one of the orders above. */
function heads(g: Graph, x: string, width: number, H: number, perm: number[]): string {
  return op(g, 'Transpose', [op(g, 'Reshape', [x, ints(g, 0, 0, H, width / H)])], { perm });
}

/** What the decoder's layer `l` attends to, computed once a window. */
function addCrossAttention(g: Graph, frames: string, l: number, model: Whisper): void {
  const { width, decoderHeads: H } = model;
  const hd = width / H;
  const each = g.peak === 0 ? 1 : framesPerKey(model, l);
  const S = graph.frames(each);
  const x = pooled(g, frames, each, width);
  for (const kind of ['k', 'v'] as const) {
    const y = linear(g, x, `model.decoder.layers.${l}.encoder_attn.${kind}_proj`, kind === 'v');
    const perm = kind === 'k' ? BY_CHANNEL : BY_TIME;
    const dims = kind === 'k' ? ['B', H, hd, S] : ['B', H, S, hd];
    if (g.peak === 0) {
      output(g, `c${kind}${l}`, heads(g, y, width, H, perm), g.float, dims);
      continue;
    }
    const { bytes, scale } = quantiseChannels(g, y, width);
    const split = heads(g, bytes, width, H, perm);
    output(g, `${kind}sc${l}`, op(g, 'Reshape', [scale, ints(g, 0, H, 1, hd)]), 'float32', ['B', H, 1, hd]);
    if (kind === 'v') {
      output(g, `cv${l}`, split, 'int8', dims);
      continue;
    }
    const ones = constant(g, 'uint8', [1, hd], () => new Uint8Array(hd).fill(1));
    output(g, `cs${l}`, graph.cast(g, op(g, 'MatMulInteger', [ones, split]), ELEMENT.float32), 'float32', ['B', H, 1, S]);
    output(g, `ck${l}`, inBlocks(g, split, H, hd), 'int8', ['B', H, 1, `${S}/${BLOCK}`, hd, BLOCK]);
  }
}

/** Keys [B, H, hd, S] in blocks, the last one filled up: [B, H, 1, S/BLOCK, hd, BLOCK]. */
function inBlocks(g: Graph, keys: string, H: number, hd: number): string {
  const steps = op(g, 'Shape', [keys], { start: 3, end: 4 });
  const missing = op(g, 'Mod', [op(g, 'Neg', [steps]), ints(g, BLOCK)]); // takes the divisor's sign
  const pads = op(g, 'Concat', [ints(g, 0, 0, 0, 0, 0, 0, 0), missing], { axis: 0 });
  const padded = op(g, 'Pad', [keys, pads, constant(g, 'int8', [], () => Int8Array.of(0))]);
  return op(g, 'Transpose', [op(g, 'Reshape', [padded, ints(g, 0, H, 1, hd, -1, BLOCK)])], { perm: [0, 1, 2, 4, 3, 5] });
}
