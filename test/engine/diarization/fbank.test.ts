import t from 'tap';
import { centre, fbank, frameCount, MELS } from '../../../engine/diarization/fbank.ts';

/** 0.25 s of two tones and a chirp. */
const samples = Float32Array.from(
  { length: 4000 },
  (_, i) =>
    0.5 * Math.sin((2 * Math.PI * 440 * i) / 16000) + 0.1 * Math.sin((2 * Math.PI * 3000 * i) / 16000 + 1) + 0.02 * Math.sin(i * i * 0.001),
);

t.test('fbank() equals the Python reference', async (t) => {
  const features = fbank(samples);
  t.equal(features.length, 23 * MELS);
  const known: [frame: number, band: number, value: number][] = [
    [0, 0, -11.80921],
    [0, 12, 0.39769],
    [5, 40, -15.94238],
    [10, 79, -2.0182],
    [22, 33, -15.64621],
    [22, 0, -10.61307],
    [7, 64, -15.94238],
  ];
  for (const [frame, band, value] of known) t.ok(Math.abs(features[frame * MELS + band]! - value) < 2e-3, `frame ${frame}, band ${band}`);
});

t.test('frameCount() counts whole frames only', async (t) => {
  t.strictSame([0, 399, 400, 559, 560, 16000].map(frameCount), [0, 0, 1, 1, 2, 98]);
});

t.test('centre() leaves every band with a mean of zero', async (t) => {
  const features = centre(fbank(samples));
  for (const band of [0, 40, 79]) {
    let sum = 0;
    for (let frame = 0; frame < 23; frame++) sum += features[frame * MELS + band]!;
    t.ok(Math.abs(sum) < 1e-3, `band ${band}`);
  }
});
