import t from 'tap';
import { openSession } from '../../../engine/runtime/session.ts';
import type { Weights } from '../../../models/build/graph/graph.ts';
import { createGraph } from '../../../models/build/graph/graph.ts';
import { toBytes } from '../../../models/build/graph/write.ts';
import { addDecoder } from '../../../models/build/whisper/decoder.ts';
import { addEncoder } from '../../../models/build/whisper/encoder.ts';
import { equalised, smoothed } from '../../../models/build/whisper/smooth.ts';
import { hasByteDotProduct } from '../../../models/choosing/cpu.ts';
import type { Recipe } from '../../../models/descriptor.ts';
import { DEFAULT } from '../../../models/recipes/default.ts';
import { openPlain, withLargeRows } from '../checkpoint.ts';
import { apart, crossValues } from '../network.ts';

const OUTLIERS = 200;

const { checkpoint, dimensions } = openPlain(t);

/** An equivalent model: some channels of each value projection of the encoder are scaled up, and scaled down in the next matrix. */
const withOutliers: Weights = {
  shape: (name) => checkpoint.shape(name),
  float32(name) {
    const values = checkpoint.float32(name);
    const [, part, kind] = /encoder\.layers\.\d+\.self_attn\.(v_proj|out_proj)\.(weight|bias)$/.exec(name) ?? [];
    const width = dimensions.width;
    const outlier = (channel: number) => channel % 16 === 3;
    if (part === 'v_proj')
      return values.map((value, i) => (outlier(kind === 'bias' ? i : Math.floor(i / width)) ? value * OUTLIERS : value));
    if (part === 'out_proj' && kind === 'weight') return values.map((value, i) => (outlier(i % width) ? value / OUTLIERS : value));
    return values;
  },
};

/** Dequantised cross-attention values that the encoder returns for noise. */
async function encoded(weights: Weights, variant: 'float32' | 'int8' | 'int8-7bit', recipe: Recipe): Promise<number[]> {
  const even = recipe.scales.values === 'equalised' ? equalised(weights, { ...dimensions, decoderLayers: 0 }) : weights; // decoder layers are excluded: their values are what is compared
  const g = createGraph(variant === 'float32' ? even : smoothed(even, dimensions), variant, recipe.scales.rowwise);
  addEncoder(g, dimensions, recipe);
  return crossValues(g, 1, recipe.hop);
}

const PLAIN: Recipe = { ...DEFAULT, scales: { ...DEFAULT.scales, values: 'plain' } };

t.test('equalised() does not change the output of a model', async (t) => {
  const exact = await encoded(withOutliers, 'float32', PLAIN);
  t.ok(apart(await encoded(withOutliers, 'float32', DEFAULT), exact) < 1e-4);
  t.ok(apart(await encoded(checkpoint, 'float32', PLAIN), exact) < 1e-4, 'nor with outliers that the next matrix undoes');
});

t.test('equalised() keeps int8 as exact with outliers of 200 in the values as without them', async (t) => {
  const exact = await encoded(checkpoint, 'float32', PLAIN);
  const without = apart(await encoded(checkpoint, 'int8-7bit', DEFAULT), exact);
  const plain = apart(await encoded(withOutliers, 'int8-7bit', PLAIN), exact);
  const even = apart(await encoded(withOutliers, 'int8-7bit', DEFAULT), exact);
  t.ok(even < 1.2 * without, `${even} with outliers, ${without} without`);
  t.ok(plain > 1.5 * even, `${plain} without evening`);
});

t.test('build() with scales per row equals scales per call, in the decoder too', async (t) => {
  const exact = await encoded(checkpoint, 'float32', PLAIN);
  const rowwise = ['q', 'k', 'v', 'out'].flatMap((part) => [0, 1].map((l) => `model.encoder.layers.${l}.self_attn.${part}_proj`));
  const byRow: Recipe = { ...DEFAULT, scales: { ...DEFAULT.scales, rowwise: [...rowwise, 'model.decoder.layers.0.self_attn.q_proj'] } };
  t.ok(apart(await encoded(checkpoint, 'int8-7bit', byRow), exact) < 1.1 * apart(await encoded(checkpoint, 'int8-7bit', DEFAULT), exact));
  const g = createGraph(checkpoint, 'int8-7bit', byRow.scales.rowwise);
  addDecoder(g, dimensions, byRow);
  const session = await openSession(toBytes(g));
  t.ok(session.inputs.includes('tokens'), 'the runtime loads the model');
  await session.close();
});

const skip = !hasByteDotProduct() && 'products of 8-bit numbers saturate on this processor';
t.test('scales per row undo most of what a few large rows cost', { skip }, async (t) => {
  const large = withLargeRows(checkpoint, 1000);
  const exact = await encoded(large, 'float32', DEFAULT);
  const rowwise = [0, 1].flatMap((l) => ['q', 'k', 'v'].map((part) => `model.encoder.layers.${l}.self_attn.${part}_proj`));
  const byCall = apart(await encoded(large, 'int8', DEFAULT), exact);
  const byRow = apart(await encoded(large, 'int8', { ...DEFAULT, scales: { ...DEFAULT.scales, rowwise } }), exact);
  const usual = apart(await encoded(checkpoint, 'int8', DEFAULT), await encoded(checkpoint, 'float32', DEFAULT));
  t.ok(byRow - usual < 0.5 * (byCall - usual), `${byCall} by call, ${byRow} by row, ${usual} without large rows`);
});
