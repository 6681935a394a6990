/* Recordings whose channels or sample rate change in the middle: joined files, intros of podcasts, broadcasts. */

import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { decode } from '../../../engine/audio/decode.ts';
import { SAMPLE_RATE } from '../../../engine/types.ts';
import { ffmpeg } from '../hostile/bench.ts';

const folder = t.testdir();
const at = (name: string) => join(folder, name);
const TICKS = '0.5*sin(5000*t)*lt(mod(t,1),0.02)+0.002*(random(0)-0.5)'; // a tick of 20 ms at every whole second
const MP3 = ['-c:a', 'libmp3lame', '-b:a', '64k', '-write_xing', '0'];
const PADDING_SECONDS = 0.05; // that encoders add to each part

/** A part of a recording: seconds, channels, sample rate and options of the codec. */
async function part(name: string, seconds: number, channels: number, rate: number, ...codec: string[]): Promise<void> {
  await ffmpeg('-f', 'lavfi', '-i', `aevalsrc='${TICKS}':s=${rate}:d=${seconds}`, '-ac', String(channels), ...codec, at(name));
}

const joined = (name: string, ...parts: string[]) => writeFileSync(at(name), Buffer.concat(parts.map((part) => readFileSync(at(part)))));
const without = (name: string, from: string, pause: string) =>
  ffmpeg('-i', at(from), '-c', 'copy', '-copyts', '-muxdelay', '0', '-bsf:a', `noise=drop='${pause}'`, at(name));

/** Checks the decoded length and the seconds with ticks. The first channel has them all. */
async function check(t: Test, name: string, seconds: number, parts: number, missing: readonly number[] = []): Promise<void> {
  const recording = await decode(at(name));
  t.teardown(() => recording.close());
  const length = await recording.decoded;
  const close = parts * PADDING_SECONDS + 0.02;
  t.ok(Math.abs(length / SAMPLE_RATE - seconds) < close, `${name}: ${length / SAMPLE_RATE} s`);
  const found: number[] = [];
  for (const [i, sample] of (await recording.read(0, 0, length)).entries())
    if (Math.abs(sample) > 0.1 && i / SAMPLE_RATE - (found.at(-1) ?? -1) > 0.3) found.push(i / SAMPLE_RATE);
  const expected = Array.from({ length: seconds }, (_, second) => second).filter((second) => !missing.includes(second));
  t.strictSame(
    found.map((second) => Math.round(second)),
    expected,
    name,
  );
  const furthest = found.reduce((most, second) => Math.max(most, Math.abs(second - Math.round(second))), 0);
  t.ok(furthest < close, `${name}: off by ${furthest} s`);
}

t.test('decode() keeps the times of an mp3 whose channels or sample rate change', async (t) => {
  await part('mono.mp3', 3, 1, 44_100, ...MP3);
  await part('stereo.mp3', 12, 2, 44_100, ...MP3);
  await part('slower.mp3', 12, 1, 22_050, ...MP3);
  joined('channels.mp3', 'mono.mp3', 'stereo.mp3');
  joined('rate.mp3', 'mono.mp3', 'slower.mp3');
  joined('twice.mp3', 'mono.mp3', 'stereo.mp3', 'slower.mp3');
  joined('back.mp3', 'mono.mp3', 'stereo.mp3', 'mono.mp3', 'stereo.mp3');
  await check(t, 'channels.mp3', 15, 2);
  await check(t, 'rate.mp3', 15, 2);
  await check(t, 'twice.mp3', 27, 3);
  await check(t, 'back.mp3', 30, 4);
});

t.test('decode() keeps the times of ADTS whose channels change', async (t) => {
  await part('mono.aac', 4, 1, 44_100, '-c:a', 'aac');
  await part('stereo.aac', 15, 2, 44_100, '-c:a', 'aac');
  joined('channels.aac', 'mono.aac', 'stereo.aac');
  await check(t, 'channels.aac', 19, 2);
});

t.test('decode() keeps the times of AAC whose sample rate changes to any other, in ADTS and in LATM', async (t) => {
  for (const [format, ...codec] of [['adts'], ['latm', '-flags', '+global_header']]) {
    const options = ['-c:a', 'aac', ...codec, '-f', format!];
    await part('slow.aac', 4, 1, 16_000, ...options);
    await part('fast.aac', 10, 1, 48_000, ...options);
    joined('faster.aac', 'slow.aac', 'fast.aac', 'slow.aac');
    await check(t, 'faster.aac', 18, 5); // at 16 kHz the encoder adds up to 0.13 s to a part
  }
});

t.test('decode() keeps the sound of an AVI file together, however wrong its rate is', async (t) => {
  for (const codec of ['libmp3lame', 'pcm_s16le']) {
    await part('whole.avi', 6, 1, 44_100, '-c:a', codec);
    const bytes = readFileSync(at('whole.avi'));
    for (const [scale, rate] of [
      [0, 0],
      [1, 1],
      [1, 3000],
    ] as const) {
      const header = bytes.indexOf('auds') + 20;
      bytes.writeUInt32LE(scale, header);
      bytes.writeUInt32LE(rate, header + 4);
      writeFileSync(at('wrong.avi'), bytes);
      await check(t, 'wrong.avi', 6, 1);
    }
  }
});

t.test('decode() keeps the times of packets that are lost before and after a change of channels', async (t) => {
  const ac3 = ['-c:a', 'ac3', '-muxdelay', '0'];
  await part('surround.ts', 5, 6, 48_000, ...ac3);
  await part('stereo.ts', 20, 2, 48_000, ...ac3, '-output_ts_offset', '5');
  joined('whole.ts', 'surround.ts', 'stereo.ts');
  await check(t, 'whole.ts', 25, 2);
  await without('surround lost.ts', 'surround.ts', 'between(pts*tb,1.3,2.5)');
  await without('stereo lost.ts', 'stereo.ts', 'between(pts*tb,8.2,8.7)+between(pts*tb,17.3,19.8)');
  joined('lost.ts', 'surround lost.ts', 'stereo lost.ts');
  await check(t, 'lost.ts', 25, 2, [2, 18, 19]);
  await part('mono.mp3', 3, 1, 44_100, ...MP3);
  await part('stereo.mp3', 12, 2, 44_100, ...MP3);
  joined('whole.mp3', 'mono.mp3', 'stereo.mp3');
  await ffmpeg('-i', at('whole.mp3'), '-c', 'copy', at('whole.mka'));
  await without('lost.mka', 'whole.mka', 'between(pts*tb,1.3,1.8)+between(pts*tb,8.2,10.7)');
  await check(t, 'lost.mka', 15, 2, [9, 10]);
});
