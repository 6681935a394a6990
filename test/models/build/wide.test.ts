import t from 'tap';
import { type CpuVariant, createGraph, type Weights } from '../../../models/build/graph/graph.ts';
import { addEncoder, stretchesOf } from '../../../models/build/whisper/encoder.ts';
import { variantForCpu } from '../../../models/choosing/cpu.ts';
import { DEFAULT } from '../../../models/recipes/default.ts';
import { openPlain } from '../checkpoint.ts';
import { apart, crossValues } from '../network.ts';

const plain = openPlain(t);
const WIDE = 1024;
const dimensions = { ...plain.dimensions, width: WIDE, encoderHeads: 16, decoderHeads: 16, encoderLayers: 1, decoderLayers: 1 };

/** Random weights of a model of that width. */
function weightsOf(width: number): Weights {
  const narrow = plain.dimensions.width;
  const shape = (name: string) =>
    plain.checkpoint.shape(name).map((size) => (size === narrow ? width : size === 2 * narrow ? 4 * width : size));
  let seed = 1;
  const next = () => (seed = (Math.imul(seed, 1664525) + 1013904223) >>> 0) / 2 ** 32 - 0.5; // Numerical Recipes' generator
  const known = new Map<string, Float32Array>();
  return {
    shape,
    float32(name) {
      const norm = /norm\.weight$/.test(name) ? 1 : 0;
      const made = known.get(name) ?? Float32Array.from({ length: shape(name).reduce((a, b) => a * b) }, () => norm + 0.1 * next());
      known.set(name, made);
      return made;
    },
  };
}

/** Values that the encoder returns for noise, dequantised. */
async function encoded(weights: Weights, variant: CpuVariant | 'float32'): Promise<number[]> {
  const g = createGraph(weights, variant);
  addEncoder(g, dimensions, DEFAULT);
  return crossValues(g, 0, DEFAULT.hop);
}

t.test('stretchesOf() divides a window into short slices up to the width of small, into long ones from the width of medium', async (t) => {
  t.strictSame([512, 768, 1024, 1536].map(stretchesOf), [25, 25, 5, 5]);
});

t.test('a wide encoder with long slices equals float32 but for rounding', async (t) => {
  const weights = weightsOf(WIDE);
  const [found, exact] = [await encoded(weights, variantForCpu()), await encoded(weights, 'float32')];
  const difference = apart(found, exact);
  t.ok(difference < 0.05, `${difference}`);
});
