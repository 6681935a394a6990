import t from 'tap';
import { gainFor } from '../../../engine/audio/gain.ts';

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
