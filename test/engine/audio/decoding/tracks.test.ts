/* Files with very many tracks: a microphone each. */

import { join } from 'node:path';
import t from 'tap';
import { decode } from '../../../../engine/audio/decode.ts';
import { SAMPLE_RATE } from '../../../../engine/types.ts';
import { ffmpeg } from '../../hostile/bench.ts';

const SEPARATE = 16; // tracks that become a channel each
const path = join(t.testdir(), 'many.mka');

/** Writes tracks, of which each sounds in a second of its own. */
async function write(count: number, chosen: readonly number[]): Promise<void> {
  const inputs = Array.from({ length: count }, (_, i) => [
    ...['-f', 'lavfi', '-i', `aevalsrc='0.5*sin(5000*t)*between(t,${i}.3,${i}.6)':s=16000:d=${count}`],
  ]);
  const maps = Array.from({ length: count }, (_, i) => [
    ...['-map', String(i), `-disposition:a:${i}`, chosen.includes(i) ? 'default' : '0'],
  ]);
  await ffmpeg(...inputs.flat(), ...maps.flat(), '-c:a', 'pcm_s16le', path);
}

/** Seconds that sound on each channel. */
async function sounding(): Promise<number[][]> {
  const recording = await decode(path);
  try {
    const seconds = (await recording.decoded) / SAMPLE_RATE;
    const found: number[][] = [];
    for (let channel = 0; channel < recording.channels; channel++) {
      const samples = await recording.read(channel, 0, seconds * SAMPLE_RATE);
      const loud = (second: number) => samples.subarray(second * SAMPLE_RATE, (second + 1) * SAMPLE_RATE).some((x) => Math.abs(x) > 0.1);
      found.push([...Array(seconds).keys()].filter(loud));
    }
    return found;
  } finally {
    await recording.close();
  }
}

t.test('decode() keeps all of 21 tracks, mixes those beyond 16 into others, and leaves the default track alone', async (t) => {
  await write(21, [2]);
  const found = await sounding();
  t.equal(found.length, SEPARATE);
  t.strictSame(
    found.flat().toSorted((a, b) => a - b),
    [...Array(21).keys()],
  );
  t.ok(
    found.some((seconds) => seconds.length === 1 && seconds[0] === 2),
    'the default track alone',
  );
  t.ok(
    found.every(({ length }) => length <= 2),
    'no channel has more than two',
  );
});

t.test('decode() mixes tracks beyond 16 also where all are flagged default', async (t) => {
  await write(18, [...Array(18).keys()]);
  const found = await sounding();
  t.strictSame(found.slice(0, 2), [
    [0, 16],
    [1, 17],
  ]);
  t.strictSame(found.length, SEPARATE);
});
