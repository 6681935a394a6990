import {
  type CpuVariant,
  constant,
  createGraph,
  type Graph,
  input,
  ints,
  MICROSOFT,
  op,
  output,
  saturates,
  type Weights,
  weight,
} from '../graph/graph.ts';
import { quantise } from '../graph/quantise.ts';

const HIDDEN = 128; // per direction of an LSTM
const EPSILON = 1e-5; // of the norms
const SLOPE = 0.01; // of the leaky ReLUs
const SINC_STRIDE = 10; // samples
const POOL = 3;
/** The LSTMs in order: input size, and the names in the published file of their input weights, recurrent weights and biases. */
const LSTMS: [size: number, read: string, before: string, biases: string][] = [
  [60, 'onnx::LSTM_677', 'onnx::LSTM_678', 'onnx::LSTM_676'],
  [256, 'onnx::LSTM_720', 'onnx::LSTM_721', 'onnx::LSTM_719'],
  [256, 'onnx::LSTM_763', 'onnx::LSTM_764', 'onnx::LSTM_762'],
  [256, 'onnx::LSTM_806', 'onnx::LSTM_807', 'onnx::LSTM_805'],
];

/**
 * segmentation-3.0 (pyannote; PyanNet of Bredin et al. 2020): `samples` [B, 1, 160000] float32 at 16 kHz to `logits` [B, 589, 7]. float32
 * gives the published model's result; the 8-bit variants use 8-bit products in the LSTMs, which take 60 % of the time with dot product
 * instructions; probabilities differ by 0.0003 on average.
 */
export function segmentationGraph(published: Weights, variant: CpuVariant): Graph {
  const g = createGraph(published, variant);
  let x = instanceNorm(g, input(g, 'samples', 'float32', ['B', 1, 160_000]), 'n0');
  x = rectified(g, instanceNorm(g, filtered(g, x), 'ns.0'));
  x = pooled(g, convolve(g, x, 'c1'), 'ns.1');
  x = pooled(g, convolve(g, x, 'c2'), 'ns.2');
  x = op(g, 'Transpose', [x], { perm: [2, 0, 1] }); // [589, B, 60]
  for (const lstm of LSTMS) x = addLstm(g, x, ...lstm);
  x = op(g, 'Transpose', [x], { perm: [1, 0, 2] });
  x = rectified(g, dense(g, x, 'onnx::MatMul_808', 'l0.bias'));
  x = rectified(g, dense(g, x, 'onnx::MatMul_809', 'l1.bias'));
  output(g, 'logits', dense(g, x, 'onnx::MatMul_810', 'cl.bias'), 'float32', ['B', 589, 7]);
  return g;
}

/**
 * Magnitude in each of 80 bands, maximum over three frames. Uses 2D operators with one dimension of 1 and Abs as activation, because
 * onnxruntime has fast kernels only for those: 12 % less time for the whole model.
 */
function filtered(g: Graph, x: string): string {
  const [bands, , taps] = g.checkpoint.shape('sinc') as [number, number, number];
  const filters = constant(g, 'float32', [bands, 1, 1, taps], () => g.checkpoint.float32('sinc'));
  const bandpass = op(g, 'Conv', [op(g, 'Unsqueeze', [x, ints(g, 2)]), filters], { strides: [1, SINC_STRIDE] });
  const size = op(g, 'LeakyRelu', [bandpass], { alpha: { float: -1 } });
  return op(g, 'Squeeze', [op(g, 'MaxPool', [size], { kernel_shape: [1, POOL], strides: [1, POOL] }), ints(g, 2)]);
}

function convolve(g: Graph, x: string, name: string): string {
  return op(g, 'Conv', [x, weight(g, `${name}.weight`), weight(g, `${name}.bias`)]);
}

/** Maximum over three frames, normalised over time, leaky ReLU. */
function pooled(g: Graph, x: string, norm: string): string {
  return rectified(g, instanceNorm(g, op(g, 'MaxPool', [x], { kernel_shape: [POOL], strides: [POOL] }), norm));
}

function instanceNorm(g: Graph, x: string, name: string): string {
  return op(g, 'InstanceNormalization', [x, weight(g, `${name}.weight`), weight(g, `${name}.bias`)], { epsilon: { float: EPSILON } });
}

function rectified(g: Graph, x: string): string {
  return op(g, 'LeakyRelu', [x], { alpha: { float: SLOPE } });
}

function dense(g: Graph, x: string, matrix: string, bias: string): string {
  return op(g, 'Add', [op(g, 'MatMul', [x, weight(g, matrix)]), weight(g, bias)]);
}

/** Both directions over [T, B, size], concatenated: [T, B, 256]. */
function addLstm(g: Graph, x: string, size: number, read: string, before: string, biases: string): string {
  const attributes = { hidden_size: HIDDEN, direction: 'bidirectional' };
  const both = g.peak > 0 ? byBytes() : op(g, 'LSTM', [x, weight(g, read), weight(g, before), weight(g, biases)], attributes);
  const beside = op(g, 'Transpose', [both], { perm: [0, 2, 1, 3] }); // [T, B, 2, 128]
  return op(g, 'Reshape', [beside, ints(g, 0, 0, 2 * HIDDEN)]);

  function byBytes(): string {
    const [readValues, ...readScales] = bytes(g, read, size);
    const [beforeValues, ...beforeScales] = bytes(g, before, HIDDEN);
    const inputs = [x, readValues, beforeValues, weight(g, biases), '', '', '', '', ...readScales, ...beforeScales];
    return op(g, 'DynamicQuantizeLSTM', inputs, attributes, MICROSOFT);
  }
}

/**
 * Weights [2, 512, size] as int8 values [2, size, 512], with a scale and a zero point per row: one per direction is too coarse where
 * products saturate.
 */
function bytes(g: Graph, name: string, size: number): [values: string, scales: string, zeros: string] {
  const gates = 4 * HIDDEN;
  const values = new Int8Array(2 * size * gates);
  const scales = new Float32Array(2 * gates);
  for (const direction of [0, 1]) {
    const from = direction * size * gates;
    const quantised = quantise(g.checkpoint.float32(name).slice(from, from + size * gates), gates, size, saturates(g));
    values.set(quantised.values, from);
    scales.set(quantised.scales, direction * gates);
  }
  return [
    constant(g, 'int8', [2, size, gates], () => values),
    constant(g, 'float32', [2, gates], () => scales),
    constant(g, 'int8', [2, gates], () => new Int8Array(2 * gates)),
  ];
}
