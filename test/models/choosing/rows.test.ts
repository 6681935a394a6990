import t from 'tap';
import { rowBytes } from '../../../models/choosing/memory.ts';
import { DEFAULT, rowsFor } from '../../../models/recipes/default.ts';

/** Shape of a checkpoint in 8 bits, with the default recipe: keys and values for each frame. */
const shape = (width: number, layers: number) => ({
  dimensions: { width, layers, heads: width / 64 },
  crossAttention: { element: 'int8', framesPerKey: Array<number>(layers).fill(1) },
  recipe: DEFAULT,
  window: { steps: 1500 },
});

t.test('imported models decode as many windows together as fit in 768 MB, from 4 to 16', async (t) => {
  const rows = ([width, layers]: [number, number]) => rowsFor(rowBytes(shape(width, layers) as never));
  t.equal(rows([384, 4]), 16, 'tiny');
  t.equal(rows([768, 12]), 16, 'small');
  t.equal(rows([1024, 24]), 6, 'medium');
  t.equal(rows([1280, 4]), 16, 'large-v3-turbo');
  t.equal(rows([1280, 32]), 4, 'large-v3');
});
