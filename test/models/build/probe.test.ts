import { join } from 'node:path';
import t from 'tap';
import { probe } from '../../../bench/models/probe.ts';
import { FRAME_SAMPLES, foldedFrames, MARGIN_SAMPLES } from '../../../engine/asr/whisper/frames.ts';
import { float32, openSession } from '../../../engine/runtime/session.ts';
import { createGraph, type Graph, output, type Weights } from '../../../models/build/graph/graph.ts';
import { toBytes } from '../../../models/build/graph/write.ts';
import { buildProbe } from '../../../models/build/whisper/build.ts';
import { addHeadProbe, addScaleProbe } from '../../../models/build/whisper/probe.ts';
import { variantForCpu } from '../../../models/choosing/cpu.ts';
import { DEFAULT } from '../../../models/recipes/default.ts';
import { candidates, safer } from '../../../models/recipes/ladder.ts';
import { HEADS, openPlain, samples, WIDTH, withLargeRows } from '../checkpoint.ts';
import { numbers } from '../network.ts';

const { folder, checkpoint, dimensions } = openPlain(t);
const STEPS = 200;
const HOP = 160;
const QUERIES = 'model.encoder.layers.0.self_attn.q_proj';

/** Losses of the first layer, where the columns of the matrix after the attention are multiplied for each head. */
async function losses(factors: readonly number[], sound = samples()): Promise<number[]> {
  const scaled: Weights = {
    shape: (name) => checkpoint.shape(name),
    float32(name) {
      const values = checkpoint.float32(name);
      if (name !== 'model.encoder.layers.0.self_attn.out_proj.weight') return values;
      return values.map((value, i) => value * factors[Math.floor((i % WIDTH) / (WIDTH / HEADS))]!);
    },
  };
  const g = createGraph(scaled, variantForCpu());
  addHeadProbe(g, dimensions);
  return (await outputs(g, sound)).loss0!;
}

/** Outputs of a measuring encoder for `sound`, by name. */
async function outputs(g: Graph, sound = samples()): Promise<Record<string, number[]>> {
  const session = await openSession(toBytes(g));
  try {
    const padded = new Float32Array(2 * STEPS * HOP + 2 * MARGIN_SAMPLES);
    padded.set(sound.subarray(0, 2 * STEPS * HOP), MARGIN_SAMPLES);
    const frames = foldedFrames(padded, HOP, new Float32Array(2 * STEPS * FRAME_SAMPLES));
    const found = await session.run({ frames: float32(frames, [1, 4, 2 * STEPS, FRAME_SAMPLES / 4]) });
    return Object.fromEntries(session.outputs.map((name) => [name, numbers(found[name]!)]));
  } finally {
    await session.close();
  }
}

/** Losses of activations if the first layer's input has a large value in a few rows. */
async function scaleLosses(large: number): Promise<Record<string, number[]>> {
  const g = createGraph(withLargeRows(checkpoint, large), 'float32');
  addScaleProbe(g, dimensions);
  return outputs(g);
}

t.test('addHeadProbe() measures each head separately, through the matrix that reads it', async (t) => {
  const usual = await losses([1, 1, 1, 1]);
  t.ok(
    usual.every((loss) => loss > 0),
    `${usual}`,
  );
  const [silenced, , doubled, same] = await losses([0, 1, 2, 1]);
  t.equal(silenced, 0, 'a head that nothing reads loses nothing');
  t.ok(Math.abs(doubled! / usual[2]! - 4) < 0.01, 'a mean square');
  t.equal(same, usual[3]);
});

t.test('a head loses next to nothing where all frames are alike', async (t) => {
  const quiet = await losses([1, 1, 1, 1], new Float32Array(2 * STEPS * HOP));
  const usual = await losses([1, 1, 1, 1]);
  for (const [head, loss] of quiet.entries()) t.ok(loss < usual[head]! / 4, `${loss} of ${usual[head]}`);
});

t.test('addScaleProbe() finds the matrices whose activations are large in a few rows, and how little scales per row lose', async (t) => {
  const [usual, uneven] = [await scaleLosses(0), await scaleLosses(100)];
  t.strictSame(
    Object.keys(usual).length,
    2 * 5 + 2 * 2,
    'five matrices per layer of the encoder, two of its output per layer of the decoder',
  );
  const ratio = (name: string) => uneven[name]![0]! / usual[name]![0]!;
  t.ok(ratio(QUERIES) > 2.5, `${ratio(QUERIES)}`);
  t.ok(uneven[QUERIES]![1]! < 1.2 * usual[QUERIES]![1]!, 'a row of its own costs the others nothing');
  t.ok(ratio('model.encoder.layers.0.self_attn.out_proj') < 1.2, 'attention does not carry it on');
});

t.test('addScaleProbe() estimates the error that rounding to 8 bits really makes', async (t) => {
  const g = createGraph(checkpoint, 'float32');
  addScaleProbe(g, dimensions);
  const { x } = g.products.find(({ name }) => name === QUERIES)!;
  output(g, 'activations', x, 'float32', [1, STEPS, WIDTH]);
  const { activations, [QUERIES]: found } = await outputs(g);
  const rows = Array.from({ length: STEPS }, (_, row) => activations!.slice(row * WIDTH, (row + 1) * WIDTH));
  const step = (Math.max(...activations!) - Math.min(...activations!)) / 255;
  const square = (values: number[]) => values.reduce((sum, value) => sum + value ** 2, 0);
  const errors = rows.map((row) => square(row.map((value) => value - step * Math.round(value / step))) / square(row));
  const real = errors.reduce((sum, error) => sum + error, 0) / STEPS;
  t.ok(Math.abs(found![0]! / real - 1) < 0.1, `${found![0]}, really ${real}`);
});

t.test('probe() measures every head, and every matrix, of a built encoder on the shipped clips', async (t) => {
  const network = join(folder, 'probe.onnx');
  await buildProbe('heads', folder, network, 'int8', DEFAULT);
  const heads = await probe(network, HOP);
  t.strictSame(
    Object.entries(heads).map(([name, losses]) => [name, losses.length]),
    [
      ['loss0', HEADS],
      ['loss1', HEADS],
    ],
  );
  await buildProbe('scales', folder, network, 'int8', DEFAULT);
  const scales = await probe(network, HOP);
  t.equal(scales[QUERIES]!.length, 2);
  for (const found of [heads, scales])
    t.ok(
      Object.values(found)
        .flat()
        .every((loss) => loss > 0 && loss < 1),
    );
});

t.test('candidates() makes heads coarse that lose little, and none if nothing was measured', async (t) => {
  const shape = { width: 64, encoderLayers: 2, layers: 2, heads: 4, melBins: 80, vocabulary: 1, alignmentHeads: [], longestText: 448 };
  const coarse = (losses?: Record<string, number[]>) =>
    candidates(shape, losses).flatMap(({ coarseHeads }) => (coarseHeads ? [coarseHeads] : []));
  t.strictSame(coarse({ loss1: [0], loss0: [1e-3, 3e-5, 5e-5] }), [[[1], [0]]]);
  t.strictSame(coarse({ loss0: [1e-3], loss1: [1e-3] }), [], 'nor if none qualifies');
  t.strictSame(coarse(), []);
  const losses = (count: number) => ({ loss0: Array.from({ length: count }, () => 2e-5) });
  t.equal(coarse(losses(8))[0]?.[0]?.length, 8);
  t.strictSame(coarse(losses(16)), [], 'the losses of many heads of a layer add up');
});

t.test('safer() begins with scales per row for the matrices that lose much without them', async (t) => {
  const losses = { first: [1e-2, 1e-3], second: [1e-3, 1e-4], third: [1e-2, 9e-3] };
  const chosen = (given?: Record<string, number[]>) => safer({ ...DEFAULT, hop: 176 }, folder, given).map(({ recipe }) => recipe);
  t.match(chosen(losses)[0], { hop: 176, scales: { rowwise: ['first'] } }, 'neither where little is lost nor where rows help little');
  t.strictSame(chosen(losses).slice(1), chosen());
  t.strictSame(chosen({ first: [1e-3, 1e-4] }), chosen(), 'if there are none, all of the encoder');
});
