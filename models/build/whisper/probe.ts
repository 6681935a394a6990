import { floats, type Graph, ints, op, output } from '../graph/graph.ts';
import { transpose } from '../graph/quantise.ts';
import type { ModelDimensions } from './config.ts';
import { addLayers } from './encoder.ts';
import { encoderSelfAttention } from './heads.ts';

/**
 * Adds an 8-bit encoder that measures, on any recording, what each head of its self-attention loses if it attends to means of distant frames.
 * Input `frames` as of `addEncoder`, one window. Output `loss{l}` [H] per layer: mean square of the change of the layer's output, relative to that of
 * the stream that it is added to.
 */
export function addProbe(g: Graph, model: ModelDimensions): void {
  const { width, encoderHeads: H, encoderLayers } = model;
  const all = Array.from({ length: H }, (_, head) => head);
  const meanSquare = (x: string, ...axes: number[]) => op(g, 'ReduceMean', [op(g, 'Mul', [x, x]), ints(g, ...axes)], { keepdims: 0 });
  const losses: string[] = [];
  addLayers(g, model, (projections, l, x) => {
    const fine = encoderSelfAttention(g, projections, model, []);
    const change = op(g, 'Sub', [fine, encoderSelfAttention(g, projections, model, all)]);
    const byHead = op(g, 'Transpose', [op(g, 'Reshape', [change, ints(g, -1, H, width / H)])], { perm: [1, 0, 2] }); // [H, S, hd]
    const name = `model.encoder.layers.${l}.self_attn.out_proj.weight`;
    const matrix = floats(g, [H, width / H, width], () => transpose(g.checkpoint.float32(name), width, width));
    losses.push(op(g, 'Div', [meanSquare(op(g, 'MatMul', [byHead, matrix]), 1, 2), meanSquare(x, 0, 1, 2)]));
    return fine;
  });
  for (let l = 0; l < encoderLayers; l++) output(g, `loss${l}`, losses[l]!, 'float32', [H]);
}
