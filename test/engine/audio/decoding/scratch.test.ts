import t, { type Test } from 'tap';
import { openScratch, Scratch } from '../../../../engine/audio/decoding/scratch.ts';
import { sharedSamples } from '../../../../engine/runtime/buffers.ts';

const COUNT = 25_000; // samples per channel

/** A recording in which sample i is i on the left and -i on the right channel, over 32768. */
async function recorded(t: Test, channels: 1 | 2): Promise<Scratch> {
  const scratch = new Scratch(await openScratch(t.testdir()), channels);
  t.teardown(() => scratch.close());
  const samples = Float32Array.from({ length: COUNT * channels }, (_, i) => (channels === 1 ? i : i % 2 ? -(i - 1) / 2 : i / 2) / 32768);
  await scratch.append(samples.subarray(0, 1_002));
  await scratch.append(samples.subarray(1_002));
  await scratch.finish();
  return scratch;
}

const counted = (from: number, to: number, sign = 1) => Array.from({ length: to - from }, (_, i) => (sign * (from + i)) / 32768);

for (const channels of [1, 2] as const) {
  t.test(`${channels === 1 ? 'one channel' : 'two channels'}: a range is the same with and without a given buffer`, async (t) => {
    const scratch = await recorded(t, channels);
    t.equal(await scratch.decoded, COUNT);
    const room = sharedSamples(2_000).fill(9);
    for (const [from, to] of [
      [0, 1_500],
      [15_333, 16_444],
    ] as const) {
      t.strictSame(Array.from(await scratch.read(0, from, to)), counted(from, to));
      const samples = await scratch.read(0, from, to, room);
      t.strictSame(Array.from(samples), counted(from, to));
      t.equal(samples.buffer, room.buffer, 'written into the given buffer');
      t.ok(
        room.subarray(to - from).every((value) => value === 9),
        'nothing is written beyond the range',
      );
      room.fill(9);
    }
  });
}

t.test('Scratch reads the right one of two channels, and their mean, into a buffer', async (t) => {
  const scratch = await recorded(t, 2);
  const room = sharedSamples(100);
  t.strictSame(Array.from(await scratch.read(1, 10, 110, room)), counted(10, 110, -1));
  t.strictSame(Array.from(await scratch.read('mix', 10, 110, room)), new Array(100).fill(0));
});

t.test('Scratch returns nothing beyond the end of the recording or of the buffer', async (t) => {
  const scratch = await recorded(t, 1);
  const room = sharedSamples(100);
  t.strictSame(Array.from(await scratch.read(0, COUNT - 3, COUNT + 50, room)), counted(COUNT - 3, COUNT));
  t.equal((await scratch.read(0, COUNT + 1, COUNT + 50, room)).length, 0);
  t.equal((await scratch.read(0, 0, 200, room)).length, 100);
});

t.test('Scratch lets a reader wait for future samples, and rejects if they never come', async (t) => {
  const scratch = new Scratch(await openScratch(t.testdir()), 1);
  t.teardown(() => scratch.close());
  const waiting = scratch.read(0, 0, 4, sharedSamples(4));
  await scratch.append(Float32Array.from(counted(1_001, 17_001)));
  t.strictSame(Array.from(await waiting), counted(1_001, 1_005));
  const never = t.rejects(scratch.read(0, 16_000, 16_001), { message: 'broken' });
  await scratch.finish(new Error('broken'));
  await never;
});

t.test("Scratch stores floats at any level with 16 bits relative to their second's peak; silence takes no space", async (t) => {
  const file = await openScratch(t.testdir());
  const scratch = new Scratch(file, 2);
  t.teardown(() => scratch.close());
  const wave = (gain: number, i: number) => gain * Math.sin(i / 7);
  const gains = [1, 0.3e-3, 0.9, 0, 0.5];
  const samples = new Float32Array(2 * 16_000 * gains.length);
  for (let i = 0; i < 16_000 * gains.length; i++) {
    samples[2 * i] = wave(gains[Math.floor(i / 16_000)]!, i);
    samples[2 * i + 1] = wave(1e-6, i);
  }
  samples[9] = Number.NaN;
  samples[11] = Number.POSITIVE_INFINITY;
  await scratch.append(samples);
  await scratch.appendSilence(3600 * 16_000);
  await scratch.append(samples.subarray(0, 200));
  await scratch.finish();
  t.equal(await scratch.decoded, (gains.length + 3600) * 16_000 + 100);
  for (const [second, gain] of gains.entries()) {
    for (const [channel, level] of [gain, 1e-6].entries()) {
      const read = await scratch.read(channel, second * 16_000, (second + 1) * 16_000);
      const furthest = read.reduce((most, x, i) => Math.max(most, i < 8 ? 0 : Math.abs(x - wave(level, second * 16_000 + i))), 0);
      t.ok(furthest <= level / 32_000, `second ${second}, channel ${channel}: off by ${furthest}`);
    }
  }
  t.strictSame(Array.from(await scratch.read(1, 4, 6)), [0, 0], 'NaN becomes silence');
  t.ok((await scratch.read(0, 3_600_000, 3_600_100)).every((x) => x === 0));
  t.ok((await file.stat()).blocks * 512 < 1_000_000, 'an hour of silence');
});

t.test('Scratch normalises audio far beyond full scale or far below it to speech level', async (t) => {
  const levels: Record<string, number> = {};
  for (const gain of [100, 1, 5e-3, 2e-4, 2e-6]) {
    const scratch = new Scratch(await openScratch(t.testdir()), 1);
    const voice = Float32Array.from({ length: 32_000 }, (_, i) => gain * Math.sin(i / 5));
    await scratch.append(voice);
    const early = scratch.read(0, 0, 16_000); // a faint recording is read only once its level is known
    await scratch.finish();
    t.equal((await early).length, 16_000);
    levels[gain] = Math.max(...(await scratch.read(0, 0, 32_000)));
    await scratch.close();
  }
  for (const [gain, level] of Object.entries({ 100: 1, 1: 1, 5e-3: 5e-3, 2e-4: 0.1, 2e-6: 2e-3 })) {
    t.ok(Math.abs(levels[gain]! / level - 1) < 0.01, `${gain}: ${levels[gain]}`);
  }
});

t.test('Scratch keeps the level of a voice beside the clicks of damaged frames, however short the recording', async (t) => {
  for (const clicks of [1, 4, 8]) {
    const scratch = new Scratch(await openScratch(t.testdir()), 1);
    t.teardown(() => scratch.close());
    const voice = Float32Array.from({ length: 10 * 16_000 }, (_, i) => 0.5 * Math.sin(i / 7));
    const damaged = voice.map((x, i) => (i % 16_000 < 800 && i < clicks * 16_000 ? 12_000 * Math.sin(i) : x));
    await scratch.append(damaged);
    await scratch.finish();
    const read = await scratch.read(0, 0, voice.length);
    const furthest = read.reduce((most, x, i) => (damaged[i] === voice[i] ? Math.max(most, Math.abs(x - voice[i]!)) : most), 0);
    t.ok(furthest < 1e-3, `${clicks} clicks: off by ${furthest}`);
    t.ok(read.every((x) => Math.abs(x) <= 4));
  }
});
