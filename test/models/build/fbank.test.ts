import t from 'tap';
import { float32, openSession } from '../../../engine/runtime/session.ts';
import { addFbank, centred, MELS } from '../../../models/build/diarization/fbank.ts';
import { createGraph, input, output } from '../../../models/build/graph/graph.ts';
import { toBytes } from '../../../models/build/graph/write.ts';

/** 0.25 s of two tones and a chirp. */
const samples = Float32Array.from(
  { length: 4000 },
  (_, i) =>
    0.5 * Math.sin((2 * Math.PI * 440 * i) / 16000) + 0.1 * Math.sin((2 * Math.PI * 3000 * i) / 16000 + 1) + 0.02 * Math.sin(i * i * 0.001),
);

/** Features [80 x frames]. */
async function features(samples: Float32Array, also: typeof centred = (_, x) => x) {
  const none = { shape: () => [], float32: () => new Float32Array(0) };
  const g = createGraph(none, 'float32');
  output(g, 'features', also(g, addFbank(g, input(g, 'samples', 'float32', ['B', 'N']))), 'float32', ['B', MELS, 'T']);
  const session = await openSession(toBytes(g));
  try {
    const { features } = await session.run({ samples: float32(samples, [1, samples.length]) });
    return { values: features!.data as Float32Array, frames: features!.dims[2]! };
  } finally {
    await session.close();
  }
}

t.test('addFbank() equals the Python reference', async (t) => {
  const { values, frames } = await features(samples);
  t.equal(frames, 23);
  const known: [frame: number, band: number, value: number][] = [
    [0, 0, -11.80921],
    [0, 12, 0.39769],
    [5, 40, -15.94238],
    [10, 79, -2.0182],
    [22, 33, -15.64621],
    [22, 0, -10.61307],
    [7, 64, -15.94238],
  ];
  for (const [frame, band, value] of known) {
    const found = values[band * frames + frame]!;
    t.ok(Math.abs(found - value) < 2e-3, `frame ${frame}, band ${band}: ${found}, wanted ${value}`);
  }
});

t.test('addFbank() uses whole frames only', async (t) => {
  const counts = [400, 559, 560, 16000];
  t.strictSame(await Promise.all(counts.map(async (count) => (await features(new Float32Array(count))).frames)), [1, 1, 2, 98]);
});

t.test('centred() gives every band a mean of zero', async (t) => {
  const { values, frames } = await features(samples, centred);
  for (const band of [0, 40, 79]) {
    const mean = values.subarray(band * frames, (band + 1) * frames).reduce((sum, value) => sum + value, 0) / frames;
    t.ok(Math.abs(mean) < 1e-4, `band ${band}: ${mean}`);
  }
});
