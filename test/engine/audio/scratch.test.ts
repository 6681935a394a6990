import t, { type Test } from 'tap';
import { openScratch, Scratch } from '../../../engine/audio/scratch.ts';
import { sharedSamples } from '../../../engine/runtime/buffers.ts';

const COUNT = 5_000; // samples of a channel

/** A recording of which sample i is i on the left and -i on the right. */
async function recorded(t: Test, channels: 1 | 2): Promise<Scratch> {
  const scratch = new Scratch(await openScratch(t.testdir()), channels);
  t.teardown(() => scratch.close());
  const pcm = Int16Array.from({ length: COUNT * channels }, (_, i) => (channels === 1 ? i : i % 2 ? -(i - 1) / 2 : i / 2));
  const bytes = new Uint8Array(pcm.buffer);
  await scratch.append(bytes.subarray(0, 1_001)); // half a sample
  await scratch.append(bytes.subarray(1_001));
  scratch.finish();
  return scratch;
}

const counted = (from: number, to: number, sign = 1) => Array.from({ length: to - from }, (_, i) => (sign * (from + i)) / 32768);

for (const channels of [1, 2] as const) {
  t.test(`${channels === 1 ? 'one channel' : 'two channels'}: a range is the same with and without a room for it`, async (t) => {
    const scratch = await recorded(t, channels);
    t.equal(await scratch.decoded, COUNT);
    const room = sharedSamples(2_000).fill(9);
    for (const [from, to] of [
      [0, 1_500],
      [3_333, 4_444],
    ] as const) {
      t.strictSame(Array.from(await scratch.read(0, from, to)), counted(from, to));
      const samples = await scratch.read(0, from, to, room);
      t.strictSame(Array.from(samples), counted(from, to));
      t.equal(samples.buffer, room.buffer, 'in the memory given');
      t.ok(
        room.subarray(to - from).every((value) => value === 9),
        'and no further',
      );
      room.fill(9);
    }
  });
}

t.test('two channels: the right one, and the mean of both, in a room', async (t) => {
  const scratch = await recorded(t, 2);
  const room = sharedSamples(100);
  t.strictSame(Array.from(await scratch.read(1, 10, 110, room)), counted(10, 110, -1));
  t.strictSame(Array.from(await scratch.read('mix', 10, 110, room)), new Array(100).fill(0));
});

t.test('what lies beyond the end, or beyond the room, is not there', async (t) => {
  const scratch = await recorded(t, 1);
  const room = sharedSamples(100);
  t.strictSame(Array.from(await scratch.read(0, COUNT - 3, COUNT + 50, room)), counted(COUNT - 3, COUNT));
  t.equal((await scratch.read(0, COUNT + 1, COUNT + 50, room)).length, 0);
  t.equal((await scratch.read(0, 0, 200, room)).length, 100);
});

t.test('a reader waits for samples that are still to come, and hears when they never will', async (t) => {
  const scratch = new Scratch(await openScratch(t.testdir()), 1);
  t.teardown(() => scratch.close());
  const waiting = scratch.read(0, 0, 4, sharedSamples(4));
  await scratch.append(new Uint8Array(Int16Array.of(1, 2, 3, 4).buffer));
  t.strictSame(Array.from(await waiting), counted(1, 5));
  const never = t.rejects(scratch.read(0, 4, 8), { message: 'broken' });
  scratch.finish(new Error('broken'));
  await never;
});
