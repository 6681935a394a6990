import { affine } from '../graph/clipped.ts';
import * as graph from '../graph/graph.ts';
import { type Graph, input, ints, norm, op, weight } from '../graph/graph.ts';
import { LOWEST_SWISH, linear, linearByRow, linears } from '../graph/linear.ts';
import { attention, type Lengths, lengthsOf } from './attention.ts';
import type { Conformer } from './shape.ts';

/*
 * The encoder of FastConformer (Rekesh et al. 2023) as NeMo defines it, for one window without padding, so that nothing is masked. The graph's
 * weights are those of fold.ts.
 */

/**
 * Adds the inputs `audio_signal` [1, bins, T] and `length` [1], which is not read, and the encoder.
 * @returns [1, frames, width]
 */
export function addEncoder(g: Graph, model: Conformer, reach: number): string {
  const signal = input(g, 'audio_signal', 'float32', [1, model.melBins, 'T']);
  input(g, 'length', 'int64', [1]);
  let x = subsampled(g, signal, model);
  const lengths = lengthsOf(g, x, reach);
  for (let l = 0; l < model.layers; l++) x = addLayer(g, x, `encoder.layers.${l}`, model, lengths);
  return x;
}

const TOGETHER = 16; // channels, a vector of the widest processors

/**
 * Convolutions of stride 2: [1, bins, T] to [1, T / subsampling, width]. The depthwise ones are followed by a product for each point. The first
 * two are computed for a few channels at a time, whose values fit the processor's cache: that takes 40 % of the time.
 */
function subsampled(g: Graph, signal: string, { subsampling, channels, melBins }: Conformer): string {
  const module = (i: number) => `encoder.pre_encode.conv.${i}`;
  const halving = { pads: [1, 1, 1, 1], strides: [2, 2] };
  const spectrum = op(g, 'Unsqueeze', [op(g, 'Transpose', [signal], { perm: [0, 2, 1] }), ints(g, 1)]); // [1, 1, T, bins]
  const parts = Array.from({ length: Math.ceil(channels / TOGETHER) }, (_, part) => {
    const some = [part * TOGETHER, Math.min(channels, (part + 1) * TOGETHER)] as const;
    const first = op(g, 'Relu', [op(g, 'Conv', [spectrum, ...kernels(g, module(0), ...some)], halving)]);
    return op(g, 'Conv', [first, ...kernels(g, module(2), ...some)], { ...halving, group: some[1] - some[0] });
  });
  let x = parts.length > 1 ? op(g, 'Concat', parts, { axis: 1 }) : parts[0]!;
  for (let i = 3; ; i += 3) {
    x = op(g, 'Relu', [op(g, 'Conv', [x, ...kernels(g, module(i), 0, channels)])]);
    if (i === 3 * Math.log2(subsampling) - 3) break;
    x = op(g, 'Conv', [x, ...kernels(g, module(i + 2), 0, channels)], { ...halving, group: channels });
  }
  const rows = op(g, 'Reshape', [op(g, 'Transpose', [x], { perm: [0, 2, 1, 3] }), ints(g, 0, 0, (channels * melBins) / subsampling)]);
  return affine(g, rows, 'encoder.pre_encode.out');
}

/** Weights and biases of a convolution's output channels [from, to). */
function kernels(g: Graph, name: string, from: number, to: number): [string, string] {
  const part = (kind: string) => {
    const [, ...each] = g.checkpoint.shape(`${name}.${kind}`);
    const size = each.reduce((product, length) => product * length, 1);
    return graph.floats(g, [to - from, ...each], () => g.checkpoint.float32(`${name}.${kind}`).slice(from * size, to * size));
  };
  return [part('weight'), part('bias')];
}

function addLayer(g: Graph, x: string, layer: string, model: Conformer, lengths: Lengths): string {
  const { bias } = model;
  let y = op(g, 'Add', [x, feedForward(g, norm(g, x, `${layer}.norm_feed_forward1`), `${layer}.feed_forward1`, bias)]);
  y = op(g, 'Add', [y, attention(g, norm(g, y, `${layer}.norm_self_att`), `${layer}.self_attn`, model, lengths)]);
  y = op(g, 'Add', [y, convolution(g, norm(g, y, `${layer}.norm_conv`), `${layer}.conv`, model)]);
  y = op(g, 'Add', [y, feedForward(g, norm(g, y, `${layer}.norm_feed_forward2`), `${layer}.feed_forward2`, bias)]);
  return norm(g, y, `${layer}.norm_out`);
}

function feedForward(g: Graph, x: string, half: string, bias: boolean): string {
  const inner = swish(g, linear(g, x, `${half}.linear1`, bias));
  const second = `${half}.linear2`;
  return g.peak > 0 ? linearByRow(g, inner, second, LOWEST_SWISH, bias) : linear(g, inner, second, bias);
}

/** A gated linear layer, a convolution in time of each channel, its norm, and a linear layer. */
function convolution(g: Graph, x: string, module: string, { width, kernel, bias, norm: kind }: Conformer): string {
  const halves = ['value', 'gate'].map((name) => ({ name: `${module}.${name}`, bias }));
  const [value, gate] = linears(g, x, halves) as [string, string];
  const gated = op(g, 'Mul', [value, op(g, 'Sigmoid', [gate])]);
  const margin = (kernel - 1) / 2;
  const inputs = [
    op(g, 'Transpose', [gated], { perm: [0, 2, 1] }),
    weight(g, `${module}.depthwise_conv.weight`),
    weight(g, `${module}.depthwise_conv.bias`),
  ];
  let y = op(g, 'Transpose', [op(g, 'Conv', inputs, { group: width, pads: [margin, margin] })], { perm: [0, 2, 1] });
  if (kind === 'layer_norm') y = norm(g, y, `${module}.batch_norm`);
  return linear(g, swish(g, y), `${module}.pointwise_conv2`, bias);
}

function swish(g: Graph, x: string): string {
  return op(g, 'QuickGelu', [x], { alpha: { float: 1 } }, graph.MICROSOFT);
}
