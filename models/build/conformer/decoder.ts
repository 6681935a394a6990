import { affine } from '../graph/clipped.ts';
import { constant, type Graph, input, ints, op, ops, output, slice, weight } from '../graph/graph.ts';
import type { Predictor } from './shape.ts';

/**
 * Adds predictor and joint with the inputs and outputs of NeMo's export (engine/asr/transducer/joint.ts): one token, any number of frames.
 * Always float32: they take 3 % of the time.
 * @param encoder channels of the encoder
 * @param outputs tokens, the blank included, and durations
 */
export function addDecoderJoint(g: Graph, model: Predictor, encoder: number, outputs: number): void {
  const frames = input(g, 'encoder_outputs', 'float32', [1, encoder, 'T']);
  const targets = input(g, 'targets', 'int32', [1, 1]);
  input(g, 'target_length', 'int32', [1]);
  const predicted = predict(g, targets, model);
  const heard = affine(g, op(g, 'Transpose', [frames], { perm: [0, 2, 1] }), 'joint.enc');
  const joined = op(g, 'Add', [heard, affine(g, predicted, 'joint.pred')]);
  const activation = { relu: 'Relu', tanh: 'Tanh', sigmoid: 'Sigmoid' }[model.activation];
  const logits = affine(g, op(g, activation, [joined]), model.last);
  output(g, 'outputs', op(g, 'Unsqueeze', [logits, ints(g, 2)]), 'float32', [1, 'T', 1, outputs]);
}

/** The predictor's output [1, 1, width] after one more token, and its states. */
function predict(g: Graph, targets: string, { layers, width }: Predictor): string {
  const given = [1, 2].map((i) => input(g, `input_states_${i}`, 'float32', [layers, 1, width])) as [string, string];
  const next: [string[], string[]] = [[], []];
  let x = op(g, 'Gather', [weight(g, 'decoder.prediction.embed.weight'), targets]); // [1, 1, width]: one row, one step
  for (let l = 0; l < layers; l++) {
    const [hidden, cell] = given.map((states) => slice(g, states, l, l + 1, 0)) as [string, string];
    const inputs = [x, ...lstm(g, l, width), '', hidden, cell];
    const [, newHidden, newCell] = ops(g, 'LSTM', inputs, 3, { hidden_size: width }) as [string, string, string];
    next[0].push(newHidden);
    next[1].push(newCell);
    x = newHidden;
  }
  for (const i of [0, 1] as const)
    output(g, `output_states_${i + 1}`, op(g, 'Concat', next[i], { axis: 0 }), 'float32', [layers, 1, width]);
  return x;
}

/** Weights of an LSTM layer as ONNX has them: input, output, forget and cell gate. PyTorch has input, forget, cell and output. */
function lstm(g: Graph, l: number, width: number): [input: string, recurrent: string, bias: string] {
  const read = (part: string) => reordered(g.checkpoint.float32(`decoder.prediction.dec_rnn.lstm.${part}_l${l}`));
  const both = () => {
    const biases = new Float32Array(8 * width);
    biases.set(read('bias_ih'));
    biases.set(read('bias_hh'), 4 * width);
    return biases;
  };
  return [
    constant(g, 'float32', [1, 4 * width, width], () => read('weight_ih')),
    constant(g, 'float32', [1, 4 * width, width], () => read('weight_hh')),
    constant(g, 'float32', [1, 8 * width], both),
  ];
}

const GATES = [0, 3, 1, 2]; // of PyTorch, in the order of ONNX

function reordered(values: Float32Array): Float32Array {
  const part = values.length / GATES.length;
  const out = new Float32Array(values.length);
  for (const [i, gate] of GATES.entries()) out.set(values.subarray(gate * part, (gate + 1) * part), i * part);
  return out;
}
