import t from 'tap';
import { FRAME_SAMPLES, foldedFrames, MARGIN_SAMPLES } from '../../engine/asr/whisper/frames.ts';
import { float32, openSession } from '../../engine/runtime/session.ts';
import { createGraph, type Weights } from '../../models/build/graph/graph.ts';
import { toBytes } from '../../models/build/graph/write.ts';
import { addEncoder, stretchesOf } from '../../models/build/whisper/encoder.ts';
import { DEFAULT } from '../../models/recipes/default.ts';
import { openPlain, samples } from './checkpoint.ts';
import { numbers } from './network.ts';

const STEPS = 50;

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
async function encoded(weights: Weights, variant: 'int8' | 'float32'): Promise<number[]> {
  const g = createGraph(weights, variant);
  addEncoder(g, dimensions, DEFAULT);
  const session = await openSession(toBytes(g));
  try {
    const sound = new Float32Array(2 * STEPS * DEFAULT.hop + 2 * MARGIN_SAMPLES);
    sound.set(samples().subarray(0, 2 * STEPS * DEFAULT.hop), MARGIN_SAMPLES);
    const frames = foldedFrames(sound, DEFAULT.hop, new Float32Array(2 * STEPS * FRAME_SAMPLES));
    const out = await session.run({ frames: float32(frames, [1, 4, 2 * STEPS, FRAME_SAMPLES / 4]) });
    if (variant === 'float32') return numbers(out.cv0!);
    const scales = numbers(out.vsc0!); // [heads x width]
    const [, , keys, width] = out.cv0!.dims as [number, number, number, number];
    return numbers(out.cv0!).map((value, i) => value * scales[Math.floor(i / (keys * width)) * width + (i % width)]!);
  } finally {
    await session.close();
  }
}

t.test('stretchesOf() divides a window into short slices up to the width of small, into long ones from the width of medium', async (t) => {
  t.strictSame([512, 768, 1024, 1536].map(stretchesOf), [25, 25, 5, 5]);
});

t.test('a wide encoder with long slices equals float32 but for rounding', async (t) => {
  const weights = weightsOf(WIDE);
  const [found, exact] = [await encoded(weights, 'int8'), await encoded(weights, 'float32')];
  const apart = Math.sqrt(
    found.reduce((sum, value, i) => sum + (value - exact[i]!) ** 2, 0) / exact.reduce((sum, value) => sum + value ** 2, 0),
  );
  t.ok(apart < 0.05, `${apart}`);
});
