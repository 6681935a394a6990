import { join } from 'node:path';
import t from 'tap';
import { probeHeads } from '../../bench/models-probe.ts';
import { FRAME_SAMPLES, foldedFrames, MARGIN_SAMPLES } from '../../engine/asr/whisper/frames.ts';
import { float32, openSession } from '../../engine/runtime/session.ts';
import { createGraph, type Weights } from '../../models/build/graph/graph.ts';
import { toBytes } from '../../models/build/graph/write.ts';
import { buildProbe } from '../../models/build/whisper/build.ts';
import { addProbe } from '../../models/build/whisper/probe.ts';
import { DEFAULT } from '../../models/recipes/default.ts';
import { candidates } from '../../models/recipes/ladder.ts';
import { HEADS, openPlain, samples, WIDTH } from './checkpoint.ts';
import { numbers } from './network.ts';

const { folder, checkpoint, dimensions } = openPlain(t);
const STEPS = 200;
const HOP = 160;

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
  const g = createGraph(scaled, 'int8');
  addProbe(g, dimensions);
  const session = await openSession(toBytes(g));
  try {
    const padded = new Float32Array(2 * STEPS * HOP + 2 * MARGIN_SAMPLES);
    padded.set(sound.subarray(0, 2 * STEPS * HOP), MARGIN_SAMPLES);
    const frames = foldedFrames(padded, HOP, new Float32Array(2 * STEPS * FRAME_SAMPLES));
    return numbers((await session.run({ frames: float32(frames, [1, 4, 2 * STEPS, FRAME_SAMPLES / 4]) })).loss0!);
  } finally {
    await session.close();
  }
}

t.test('addProbe() measures each head separately, through the matrix that reads it', async (t) => {
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

t.test('probeHeads() measures every head of a built probe on the shipped clips', async (t) => {
  const network = join(folder, 'probe.onnx');
  await buildProbe(folder, network, 'int8', DEFAULT);
  const found = await probeHeads(network, HOP);
  t.strictSame(
    found.map((layer) => layer.length),
    [HEADS, HEADS],
  );
  t.ok(found.flat().every((loss) => loss > 0 && loss < 1));
});

t.test('candidates() makes heads coarse that lose little, and none if nothing was measured', async (t) => {
  const shape = { width: 64, encoderLayers: 2, layers: 2, heads: 4, melBins: 80, vocabulary: 1, alignmentHeads: [], longestText: 448 };
  const coarse = (losses?: number[][]) => candidates(shape, losses).flatMap(({ coarseHeads }) => (coarseHeads ? [coarseHeads] : []));
  t.strictSame(coarse([[1e-3, 3e-5, 5e-5], [0]]), [[[1], [0]]]);
  t.strictSame(coarse([[1e-3], [1e-3]]), [], 'nor if none qualifies');
  t.strictSame(coarse(), []);
});
