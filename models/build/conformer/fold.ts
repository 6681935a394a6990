import type { Weights } from '../graph/graph.ts';
import type { Conformer } from './shape.ts';

const EPSILON = 1e-5; // of the batch norms
const HALF = 0.5; // share of a feed-forward half in the residual
const SLOWEST = 10_000; // of the sinusoids: their periods are powers of this

/**
 * The weights of a Conformer in the form in which the graph uses them, under the same names or these of its own:
 * - `self_attn.linear_q.bias` includes the positional bias u, and `self_attn.shift` [D] is what leads from that to the bias v.
 * - `self_attn.positions` [1, H, 2 * reach, dk]: keys of the relative positions reach - 1 … -reach, divided by the square root of dk.
 * - `conv.value`, `conv.gate`: the halves of pointwise_conv1 as matrices [D, D]; `conv.pointwise_conv2` is a matrix too.
 * - `conv.depthwise_conv` includes the batch norm.
 * Feed-forward halves include their factor of 0.5, and the subsampling that of the width.
 * @param reach frames of the longest window
 */
export function folded(checkpoint: Weights, model: Conformer, reach: number): Weights {
  const { width, heads, bias, norm, kernel } = model;
  const read = (name: string) => checkpoint.float32(name);
  const scaled = (name: string, by: number) => read(name).map((value) => value * by);
  const biasOf = (module: string) => (bias ? read(`${module}.bias`) : new Float32Array(width));
  const tensors: [pattern: RegExp, shape: number[] | null, load: (layer: string, name: string) => Float32Array][] = [
    [/^(encoder\.pre_encode)\.out\.(weight|bias)$/, null, (_, name) => scaled(name, model.scaled ? Math.sqrt(width) : 1)],
    [/^(encoder\.layers\.\d+)\.feed_forward[12]\.linear2\.(weight|bias)$/, null, (_, name) => scaled(name, HALF)],
    [
      /^(encoder\.layers\.\d+)\.self_attn\.linear_q\.bias$/,
      [width],
      (layer) => {
        const u = read(`${layer}.self_attn.pos_bias_u`);
        return biasOf(`${layer}.self_attn.linear_q`).map((value, i) => value + u[i]!);
      },
    ],
    [
      /^(encoder\.layers\.\d+)\.self_attn\.shift$/,
      [width],
      (layer) => {
        const u = read(`${layer}.self_attn.pos_bias_u`);
        return read(`${layer}.self_attn.pos_bias_v`).map((value, i) => value - u[i]!);
      },
    ],
    [
      /^(encoder\.layers\.\d+)\.self_attn\.positions$/,
      [1, heads, 2 * reach, width / heads],
      (layer) => positionKeys(read(`${layer}.self_attn.linear_pos.weight`), width, heads, reach),
    ],
    [/^(encoder\.layers\.\d+)\.conv\.value\.weight$/, [width, width], (layer) => half(read(`${layer}.conv.pointwise_conv1.weight`), 0)],
    [/^(encoder\.layers\.\d+)\.conv\.gate\.weight$/, [width, width], (layer) => half(read(`${layer}.conv.pointwise_conv1.weight`), 1)],
    [/^(encoder\.layers\.\d+)\.conv\.value\.bias$/, [width], (layer) => half(read(`${layer}.conv.pointwise_conv1.bias`), 0)],
    [/^(encoder\.layers\.\d+)\.conv\.gate\.bias$/, [width], (layer) => half(read(`${layer}.conv.pointwise_conv1.bias`), 1)],
    [/^(encoder\.layers\.\d+)\.conv\.pointwise_conv2\.weight$/, [width, width], (_, name) => read(name)],
    [
      /^(encoder\.layers\.\d+)\.conv\.depthwise_conv\.weight$/,
      null,
      (layer, name) => {
        const gain = norm === 'batch_norm' ? gainOf(checkpoint, layer) : null;
        return gain ? read(name).map((value, i) => value * gain[Math.floor(i / kernel)]!) : read(name);
      },
    ],
    [
      /^(encoder\.layers\.\d+)\.conv\.depthwise_conv\.bias$/,
      [width],
      (layer) => {
        const own = biasOf(`${layer}.conv.depthwise_conv`);
        if (norm !== 'batch_norm') return own;
        const [gain, mean] = [gainOf(checkpoint, layer), read(`${layer}.conv.batch_norm.running_mean`)];
        return read(`${layer}.conv.batch_norm.bias`).map((value, c) => value + gain[c]! * (own[c]! - mean[c]!));
      },
    ],
  ];
  const find = (name: string) => {
    for (const [pattern, shape, load] of tensors) {
      const layer = pattern.exec(name)?.[1];
      if (layer !== undefined) return { shape: shape ?? checkpoint.shape(name), load: () => load(layer, name) };
    }
    return { shape: matrixOf(checkpoint.shape(name)), load: () => read(name) };
  };
  return { shape: (name) => find(name).shape, float32: (name) => find(name).load() };
}

/** A convolution of one tap is a matrix. */
function matrixOf(shape: number[]): number[] {
  return shape.length === 3 && shape[2] === 1 ? shape.slice(0, 2) : shape;
}

function half(values: Float32Array, which: 0 | 1): Float32Array {
  const length = values.length / 2;
  return values.slice(which * length, (which + 1) * length);
}

/** A batch norm's factor for each channel. */
function gainOf(checkpoint: Weights, layer: string): Float32Array {
  const variance = checkpoint.float32(`${layer}.conv.batch_norm.running_var`);
  return checkpoint.float32(`${layer}.conv.batch_norm.weight`).map((gain, c) => gain / Math.sqrt(variance[c]! + EPSILON));
}

/**
 * W p(n) / sqrt(dk) for the relative positions n = reach - 1 … -reach, with p(n) = sin(n / period), cos(n / period) in turn: [H, 2 * reach,
 * dk]. Both halves are computed at once, because the sines of -n are those of n with the opposite sign.
 * @param matrix [D, D]
 */
function positionKeys(matrix: Float32Array, width: number, heads: number, reach: number): Float32Array {
  const size = width / heads;
  const keys = new Float32Array(2 * reach * width);
  const waves = new Float64Array(width);
  for (let n = 0; n <= reach; n++) {
    for (let i = 0; i < width; i += 2) {
      const angle = n * Math.exp((-i * Math.log(SLOWEST)) / width);
      waves[i] = Math.sin(angle);
      waves[i + 1] = Math.cos(angle);
    }
    for (let row = 0; row < width; row++) {
      let [odd, even] = [0, 0];
      for (let i = 0, at = row * width; i < width; i += 2, at += 2) {
        odd += matrix[at]! * waves[i]!;
        even += matrix[at + 1]! * waves[i + 1]!;
      }
      const first = Math.floor(row / size) * 2 * reach; // row of the head's first key
      const place = (position: number) => (first + reach - 1 - position) * size + (row % size);
      if (n < reach) keys[place(n)] = (even + odd) / Math.sqrt(size);
      if (n > 0) keys[place(-n)] = (even - odd) / Math.sqrt(size);
    }
  }
  return keys;
}
