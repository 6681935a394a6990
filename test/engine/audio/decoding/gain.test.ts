import t from 'tap';
import { clipClicks, extentOf, gainFor } from '../../../../engine/audio/decoding/gain.ts';

const seconds = (count: number, peak: number) => new Array<number>(count).fill(peak);

t.test('gainFor() keeps the level of a long recording with clicks of damaged frames', async (t) => {
  for (const clicks of [1, 12, 150]) t.equal(gainFor([...seconds(3600 - clicks, 0.5), ...seconds(clicks, 59)]), 1, `${clicks} clicks`);
});

t.test('gainFor() attenuates float recordings beyond full scale and amplifies those far below it', async (t) => {
  t.equal(gainFor([...seconds(40, 0.01), ...seconds(20, 100)]), 0.01);
  t.equal(gainFor(seconds(10, 100)), 0.01, 'short');
  t.equal(gainFor([0, 100, 0]), 0.01, 'one loud second of three');
  t.equal(gainFor(seconds(60, 1e-4)), 1000);
  t.equal(gainFor(seconds(60, 3)), 1, 'lossy codecs overshoot');
  t.equal(gainFor(seconds(60, 0)), 1, 'silence');
});

t.test('extentOf() finds the level of a voice of 0.3 s, not that of clicks of 0.2 s', async (t) => {
  const loud = (samples: number, level: number) => Float32Array.from({ length: 16_000 }, (_, i) => (i < samples ? level : -0.01));
  const lowest = Math.fround(-0.01);
  t.strictSame(extentOf(loud(4_800, 0.5)), { lowest, highest: 0.5, level: 0.5 });
  t.strictSame(extentOf(loud(3_200, 12_000)), { lowest, highest: 12_000, level: -lowest });
  t.strictSame(extentOf(new Float32Array(800).fill(-12_000)), { lowest: -12_000, highest: 0, level: 0 }, 'the rest of the last second');
});

t.test('clipClicks() clips what neither lossy codecs nor a voice of that level reach', async (t) => {
  const clipped = (level: number) => {
    const samples = Float32Array.from([0.5, 3.9, -12_000, 350]);
    return { ...clipClicks(samples, { lowest: -12_000, highest: 350, level: 0 }, level), samples };
  };
  t.strictSame(clipped(0.5), { lowest: -4, highest: 4, samples: Float32Array.from([0.5, 3.9, -4, 4]) });
  t.strictSame(clipped(100), { lowest: -400, highest: 350, samples: Float32Array.from([0.5, 3.9, -400, 350]) });
});
