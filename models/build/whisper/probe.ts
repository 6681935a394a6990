import { floats, type Graph, ints, op, output, scalar } from '../graph/graph.ts';
import { transpose } from '../graph/quantise.ts';
import type { ModelDimensions } from './config.ts';
import { addLayers, plainAttention, stretchesOf } from './encoder.ts';
import { encoderSelfAttention } from './heads.ts';

/**
 * Adds an 8-bit encoder that measures, on any recording, what each head of its self-attention loses if it attends to means of distant frames.
 * Input `frames` as of `addEncoder`, one window. Output `loss{l}` [H] per layer: mean square of the change of the layer's output, relative to that of
 * the stream that it is added to.
 */
export function addHeadProbe(g: Graph, model: ModelDimensions): void {
  const { width, encoderHeads: H, encoderLayers } = model;
  const all = Array.from({ length: H }, (_, head) => head);
  const losses: string[] = [];
  addLayers(g, model, (projections, l, x) => {
    const fine = encoderSelfAttention(g, projections, model, []);
    const change = op(g, 'Sub', [fine, encoderSelfAttention(g, projections, model, all)]);
    const byHead = op(g, 'Transpose', [op(g, 'Reshape', [change, ints(g, -1, H, width / H)])], { perm: [1, 0, 2] }); // [H, S, hd]
    const name = `model.encoder.layers.${l}.self_attn.out_proj.weight`;
    const matrix = floats(g, [H, width / H, width], () => transpose(g.checkpoint.float32(name), width, width));
    losses.push(op(g, 'Div', [meanSquare(g, op(g, 'MatMul', [byHead, matrix]), 1, 2), meanSquare(g, x, 0, 1, 2)]));
    return fine;
  });
  for (let l = 0; l < encoderLayers; l++) output(g, `loss${l}`, losses[l]!, 'float32', [H]);
}

/**
 * Adds a float32 encoder that measures, on any recording, what the activations before each matrix would lose in 8 bits. Input `frames` as of
 * `addEncoder`, one window. Output per matrix, named as it is: [2], the loss with one scale per call, and with one per row. A loss is the mean over the
 * rows of the noise of rounding, relative to the row's mean square, at most 1: a step of width d has d^2/12 (Bennett 1948).
 */
export function addScaleProbe(g: Graph, model: ModelDimensions): void {
  const encoded = addLayers(g, model, plainAttention(g, model));
  const crossed = Array.from({ length: model.decoderLayers }, (_, l) =>
    ['k', 'v'].map((kind) => ({ x: encoded, name: `model.decoder.layers.${l}.encoder_attn.${kind}_proj` })),
  ).flat();
  const products = g.products.filter(({ name }) => !name.endsWith('.fc2')); // these have scales per row anyway
  const known = new Map<string, string>(); // several matrices have the same input
  for (const { x, name } of [...products, ...crossed]) {
    const calls = /self_attn\.out_proj$|\.fc1$/.test(name) ? stretchesOf(model.width) : 1;
    if (!known.has(x)) known.set(x, lossesOf(g, x, calls, model.width));
    output(g, name, op(g, 'Identity', [known.get(x)!]), 'float32', [2]);
  }
}

const LEVELS = 255;

/** Losses [2] of the rows of [1, S, D] in 8 bits: with a scale for each of `calls` stretches, and with one per row. */
function lossesOf(g: Graph, x: string, calls: number, width: number): string {
  const rows = op(g, 'Reshape', [x, ints(g, calls, -1, width)]);
  const power = op(g, 'Max', [meanSquareOfRows(g, rows), scalar(g, 1e-12)]);
  const zero = scalar(g, 0);
  const reach = (kind: 'ReduceMax' | 'ReduceMin', bound: 'Max' | 'Min') =>
    op(g, bound, [op(g, kind, [op(g, kind, [rows, ints(g, 2)], { keepdims: 1 }), ints(g, 1)], { keepdims: 1 }), zero]);
  const range = op(g, 'Sub', [reach('ReduceMax', 'Max'), reach('ReduceMin', 'Min')]); // [calls, 1, 1]
  const rowRange = op(g, 'Mul', [op(g, 'ReduceMax', [op(g, 'Abs', [rows]), ints(g, 2)], { keepdims: 1 }), scalar(g, 2)]); // [calls, rows, 1]
  const losses = [range, rowRange].map((each) => {
    const noise = op(g, 'Mul', [op(g, 'Mul', [each, each]), scalar(g, 1 / (12 * LEVELS ** 2))]);
    const share = op(g, 'Min', [op(g, 'Div', [noise, power]), scalar(g, 1)]);
    return op(g, 'Reshape', [op(g, 'ReduceMean', [share, ints(g, 0, 1, 2)], { keepdims: 0 }), ints(g, 1)]);
  });
  return op(g, 'Concat', losses, { axis: 0 });
}

function meanSquareOfRows(g: Graph, x: string): string {
  return op(g, 'ReduceMean', [op(g, 'Mul', [x, x]), ints(g, 2)], { keepdims: 1 });
}

function meanSquare(g: Graph, x: string, ...axes: number[]): string {
  return op(g, 'ReduceMean', [op(g, 'Mul', [x, x]), ints(g, ...axes)], { keepdims: 0 });
}
