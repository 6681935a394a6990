/* Real-world recordings: lost packets, damaged frames, microphones on unusual channels and tracks, unsupported codecs, float levels. */

import { execFile } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import t, { type Test } from 'tap';
import { partiesOf } from '../../../engine/audio/channels/parties.ts';
import { decode, findTools, probe, type Track } from '../../../engine/audio/decode.ts';
import { hardened } from '../../../engine/audio/probe.ts';
import type { Recording } from '../../../engine/types.ts';
import { ffmpeg, random } from '../hostile/bench.ts';
import { clip } from './voices.ts';

const RATE = 16_000;
const folder = t.testdir();
const at = (name: string) => join(folder, name);

/** A tick of 20 ms at every whole second, in faint noise so that codecs do not pause transmission. */
const TICKS = ['-f', 'lavfi', '-i', "aevalsrc='0.5*sin(5000*t)*lt(mod(t,1),0.02)+0.002*(random(0)-0.5):s=48000:d=40'"];
const FILM = ['-f', 'lavfi', '-i', 'color=s=64x64:r=5:d=40'];

async function open(t: Test, name: string, tracks?: readonly Track[]): Promise<Recording> {
  const recording = await decode(at(name), { tracks });
  t.teardown(() => recording.close());
  await recording.decoded;
  return recording;
}

/** Times of the ticks, seconds. */
async function ticks(recording: Recording, channel: number | 'mix' = 'mix'): Promise<number[]> {
  const samples = await recording.read(channel, 0, await recording.decoded);
  const found: number[] = [];
  for (let i = 0; i < samples.length; i++) if (Math.abs(samples[i]!) > 0.15 && i / RATE - (found.at(-1) ?? -1) > 0.3) found.push(i / RATE);
  return found;
}

/** 95th percentile of the distance of ticks from whole seconds: damaged frames may click. */
const off = (found: readonly number[]) => {
  const distances = found.map((second) => Math.abs(second - Math.round(second))).sort((a, b) => a - b);
  return distances[Math.floor(0.95 * (distances.length - 1))]!;
};

t.test('decode() keeps the times of audio with lost packets', async (t) => {
  await ffmpeg(...TICKS, '-c:a', 'libopus', '-frame_duration', '20', at('whole.mka'));
  for (const share of [0.05, 0.2]) {
    const name = `lost-${share}.webm`;
    const drop = `noise=drop='gt(n,2)*lt(random(0),${share})'`;
    await ffmpeg('-i', at('whole.mka'), '-c', 'copy', '-bsf:a', drop, at(name));
    const recording = await open(t, name);
    const found = await ticks(recording);
    t.ok(found.length > 20, `${name}: ${found.length} ticks`);
    t.ok(off(found) < 0.08, `${name}: off by ${off(found)} s`);
    t.ok(Math.abs((await recording.decoded) / RATE - 40) < 0.5, name);
  }
});

t.test('decode() keeps the times of audio with damaged frames, and of broadcasts with lost packets', async (t) => {
  await ffmpeg(...FILM, ...TICKS, '-c:a', 'aac', '-b:a', '48k', at('whole.mp4'));
  await ffmpeg('-i', at('whole.mp4'), '-c', 'copy', '-bsf:a', "noise=amount='if(lt(random(0),0.06),1,0)'", at('damaged.mp4'));
  await ffmpeg('-i', at('whole.mp4'), '-c', 'copy', at('whole.ts'));
  const chance = random(5);
  const bytes = readFileSync(at('whole.ts'));
  const packets = Array.from({ length: bytes.length / 188 }, (_, i) => bytes.subarray(i * 188, (i + 1) * 188));
  writeFileSync(at('lost.ts'), Buffer.concat(packets.filter((_, i) => i < 20 || chance() > 0.02)));
  for (const name of ['damaged.mp4', 'lost.ts']) {
    const found = await ticks(await open(t, name));
    t.ok(found.length > 20, `${name}: ${found.length} ticks`);
    t.ok(off(found) < 0.08, `${name}: off by ${off(found)} s`);
  }
});

t.test('decode() keeps a pause of 11 minutes without a packet, but not a leap between chained streams', async (t) => {
  for (const name of ['muted.mka', 'muted.ogg']) {
    await ffmpeg('-t', '12', ...TICKS, '-af', "asetpts='PTS+gte(T,5.5)*694/TB'", '-c:a', 'libopus', at(name));
    const found = await ticks(await open(t, name));
    t.ok(
      found.some((second) => Math.abs(second - 700) < 0.05),
      found.join(),
    );
    t.ok(off(found) < 0.05);
  }
  await ffmpeg('-t', '4', ...TICKS, '-c:a', 'libopus', at('now.ogg'), '-output_ts_offset', '7200', '-c:a', 'libopus', at('later.ogg'));
  writeFileSync(at('chained.ogg'), Buffer.concat(['now.ogg', 'later.ogg'].map((name) => readFileSync(at(name)))));
  t.ok(Math.abs((await (await open(t, 'chained.ogg')).decoded) / RATE - 8) < 0.1);
});

t.test('probe() and decode() use the tracks that can be opened and report the others as unsupported', async (t) => {
  const two = ['-map', '0:a', '-map', '0:a', '-t', '4', '-ar', '44100', '-c:a', 'aac'];
  await ffmpeg(...TICKS, ...two, at('two.mp4'));
  await ffmpeg(...TICKS, ...two.slice(2), at('one.m4a'));
  await ffmpeg(...TICKS, ...two.slice(0, 6), '-c:a', 'pcm_s16le', at('two.mov'));
  const unknown = readFileSync(at('two.mov'));
  unknown.write('apac', unknown.lastIndexOf('sowt'), 'latin1');
  writeFileSync(at('unknown-second.mov'), unknown);
  unknown.write('apac', unknown.lastIndexOf('sowt'), 'latin1');
  writeFileSync(at('unknown-both.mov'), unknown);
  /** Sets the AAC object type of the first track to 90, which no decoder supports. */
  const odd = (from: string, to: string) => {
    const bytes = readFileSync(at(from));
    const config = bytes.indexOf(Buffer.from([0x05, 0x80, 0x80, 0x80]), bytes.indexOf('esds')) + 5;
    bytes.writeUInt16BE(0xff49, config);
    writeFileSync(at(to), bytes);
  };
  odd('two.mp4', 'odd-first.mp4');
  odd('one.m4a', 'odd.m4a');
  for (const name of ['unknown-second.mov', 'odd-first.mp4']) {
    const recording = await open(t, name);
    t.equal(recording.channels, 1, name);
    t.ok(off(await ticks(recording)) < 0.1, name);
  }
  await t.rejects(probe(at('unknown-both.mov')), { code: 'UNSUPPORTED_CODEC' });
  await t.rejects(
    decode(at('odd.m4a')).then((recording) => recording.decoded.finally(() => recording.close())),
    { code: 'UNSUPPORTED_CODEC' },
  );
});

t.test('decode() returns the channels of all tracks, silent ones included, and names the default track', async (t) => {
  const quiet = ['-f', 'lavfi', '-i', 'anullsrc=r=48000:cl=mono:d=3'];
  const film = ['-f', 'lavfi', '-i', 'color=s=64x64:r=5:d=5', ...quiet, '-t', '5', ...TICKS, '-map', '0', '-map', '1', '-map', '2'];
  await ffmpeg(
    ...film,
    '-disposition:a:0',
    '0',
    '-disposition:a:1',
    'default',
    '-metadata:s:a:1',
    'language=deu',
    '-c:a',
    'pcm_s16le',
    at('tracks.mkv'),
  );
  const recording = await open(t, 'tracks.mkv');
  t.match(recording.origins, [
    { track: 1, default: false },
    { track: 2, default: true, language: 'de' },
  ]);
  t.equal(await recording.decoded, 5 * RATE);
  t.strictSame(await ticks(recording, 0), []);
  t.ok(off(await ticks(recording, 1)) < 0.05);
  t.equal((await recording.read(0, 4 * RATE, 5 * RATE)).length, RATE, 'silence after the end of the shorter track');
  t.strictSame(await partiesOf(recording), { parties: [[1]], silent: true });
});

t.test('decode() keeps floats far beyond full scale and far below it', async (t) => {
  const said = await decode(clip('en_jfk.mp3'));
  t.teardown(() => said.close());
  const voice = await said.read('mix', 0, await said.decoded);
  const integers = 20 * Math.log10(2 ** 31); // as floats, unchanged
  for (const decibels of [40, -75, integers]) {
    await ffmpeg(
      '-i',
      clip('en_jfk.mp3'),
      '-af',
      `aformat=sample_fmts=flt,volume=${decibels}dB:precision=float`,
      '-c:a',
      'pcm_f32le',
      at('level.wav'),
    );
    const recording = await open(t, 'level.wav');
    const heard = await recording.read('mix', 0, voice.length);
    const [xy, xx, yy] = heard.reduce(([xy, xx, yy], y, i) => [xy! + voice[i]! * y, xx! + voice[i]! ** 2, yy! + y * y], [0, 0, 0]);
    t.ok(xy! / Math.sqrt(xx! * yy!) > 0.999, `${decibels} dB: the same sound`);
    const peak = heard.reduce((most, x) => Math.max(most, Math.abs(x)), 0);
    t.ok(peak > 0.05 && peak <= 1.01, `${decibels} dB: ${peak}`);
  }
});

t.test('hardened() blocks all video decoders, and the media type of a film is found without them', async (t) => {
  const tools = await findTools();
  const film = ['-f', 'lavfi', '-i', 'testsrc=d=2:s=64x64', '-i', clip('en_jfk.mp3')];
  const kinds = { 'mpeg4.mp4': 'mpeg4', 'png.mkv': 'png', 'mjpeg.avi': 'mjpeg', 'mpeg2video.ts': 'mpeg2video', 'flv.flv': 'flv' };
  const one = ['-map', '0:v', '-map', '1:a', '-t', '2', '-ar', '44100'];
  await ffmpeg(...film, ...Object.entries(kinds).flatMap(([name, codec]) => [...one, '-c:v', codec, at(name)]));
  for (const [name, codec] of Object.entries(kinds)) {
    const log = async (options: string[]) => {
      const args = ['-hide_banner', '-v', 'debug', '-nostdin', ...options, '-i', at(name), '-map', '0:a:0', '-f', 'null', '-'];
      return (await promisify(execFile)(tools.ffmpeg, args, { maxBuffer: 2 ** 26 })).stderr;
    };
    const refused = await log(hardened(tools));
    t.match(refused, new RegExp(`Codec \\(${codec}\\) not on whitelist`), `${codec}: an attempt to open it is refused`);
    t.notMatch(
      refused,
      new RegExp(`Video: ${codec}[^\\n]*(yuv|rgb|pal8|gray)`),
      `${codec}: no property that requires decoding is reported`,
    );
    t.notMatch(await log([]), /not on whitelist/);
    const { mediaType, tracks } = await probe(at(name));
    t.equal(mediaType, codec === 'png' ? 'audio' : 'video', name);
    const recording = await open(t, name, tracks);
    t.ok(Math.abs((await recording.decoded) / RATE - 2) < 0.3, name);
  }
});
