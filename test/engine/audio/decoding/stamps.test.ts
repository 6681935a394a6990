import t from 'tap';
import { Stamps } from '../../../../engine/audio/decoding/stamps.ts';

const RANGE_MS = 2 ** 28;

/** The block of a packet: its number, its timestamp in the file and its samples. */
const block = (packet: number, milliseconds: number, samples: number) => ({
  time: packet * RANGE_MS + Math.max(0, Math.min(RANGE_MS - 1, RANGE_MS / 2 + milliseconds)),
  data: new Uint8Array(4 * samples),
});
const lagsOf = (...blocks: ReturnType<typeof block>[]) => {
  const stamps = new Stamps();
  return blocks.map((one) => stamps.frame(one, 1).lag);
};

t.test('Stamps counts how far timestamps are ahead of the samples', async (t) => {
  t.strictSame(lagsOf(block(0, 0, 320), block(1, 20, 320), block(2, 60, 320), block(3, 50, 320)), [0, 0, 320, -160]);
  const stamps = new Stamps();
  t.strictSame(stamps.frame(block(0, 10, 640), 2), { lag: 160, count: 320, samples: new Float32Array(640) });
});

t.test('Stamps gives the pieces of a block one lag', async (t) => {
  t.strictSame(lagsOf(block(0, 0, 320), block(1, 40, 160), block(1, 40, 160), block(2, 60, 320)), [0, 320, 320, 320]);
});

t.test('Stamps ignores timestamps that are days away', async (t) => {
  t.strictSame(lagsOf(block(0, 10, 320), block(1, 1e12, 320), block(2, -1e12, 320), block(3, 70, 320)), [160, 160, 160, 160]);
});
