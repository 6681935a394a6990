import * as graph from '../graph/graph.ts';
import { type Graph, ints, op, weight } from '../graph/graph.ts';
import { linear, linears } from '../graph/linear.ts';
import type { Conformer } from './shape.ts';

/** Numbers of frames and positions, [1] each, from which the positional keys of a window are cut. */
export interface Lengths {
  frames: string;
  /** Rows of positional keys: twice the frames; the last is not used. */
  first: string;
  end: string;
  /** The part of the products, by the flat index, that lies along the diagonals. */
  skipped: string;
  kept: string;
  /** Shape of that part. */
  shape: string;
}

/** Adds the numbers for a window `x` [1, T, D] of at most `reach` frames. */
export function lengthsOf(g: Graph, x: string, reach: number): Lengths {
  const frames = op(g, 'Shape', [x], { start: 1, end: 2 });
  const before = op(g, 'Sub', [frames, ints(g, 1)]);
  const odd = op(g, 'Add', [frames, before]);
  const zero = ints(g, 0);
  return {
    frames,
    first: op(g, 'Sub', [ints(g, reach), frames]),
    end: op(g, 'Add', [ints(g, reach), frames]),
    skipped: before,
    kept: op(g, 'Add', [before, op(g, 'Mul', [frames, odd])]),
    shape: op(g, 'Concat', [zero, zero, frames, odd], { axis: 0 }),
  };
}

/** Self-attention with relative positions after Transformer-XL: [1, T, D] to the same. */
export function attention(g: Graph, x: string, module: string, model: Conformer, lengths: Lengths): string {
  const { heads, bias } = model;
  const projections = ['q', 'k', 'v'].map((name) => ({ name: `${module}.linear_${name}`, bias: bias || name === 'q' }));
  const [q, k, v] = linears(g, x, projections) as [string, string, string];
  const scores = byPosition(g, op(g, 'Add', [q, weight(g, `${module}.shift`)]), module, model, lengths);
  const mixed = op(g, 'MultiHeadAttention', [q, k, v, '', '', scores], { num_heads: heads }, graph.MICROSOFT);
  return linear(g, mixed, `${module}.linear_out`, bias);
}

/**
 * The part of the scores that depends on the distance between query and key: [1, H, T, T]. Products of queries with positions in descending
 * order have what belongs to one key along a diagonal. With 2 T columns, the flat index of row i and key j is (T - 1) + i (2 T - 1) + j.
 */
function byPosition(g: Graph, q: string, module: string, { width, heads }: Conformer, lengths: Lengths): string {
  const queries = op(g, 'Transpose', [op(g, 'Reshape', [q, ints(g, 0, 0, heads, width / heads)])], { perm: [0, 2, 1, 3] });
  const keys = op(g, 'Slice', [weight(g, `${module}.positions`), lengths.first, lengths.end, ints(g, 2)]); // [1, H, 2 T, dk]
  const products = op(g, 'FusedMatMul', [queries, keys], { transB: 1 }, graph.MICROSOFT);
  const flat = op(g, 'Slice', [op(g, 'Reshape', [products, ints(g, 0, 0, -1)]), lengths.skipped, lengths.kept, ints(g, 2)]);
  return op(g, 'Slice', [op(g, 'Reshape', [flat, lengths.shape]), ints(g, 0), lengths.frames, ints(g, 3)]);
}
