/* Files of formats that have a header of their own, one after the other in one. */

import { readFileSync, writeFileSync } from 'node:fs';
import { open } from 'node:fs/promises';
import t, { type Test } from 'tap';
import { partsOf } from '../../../../engine/audio/containers/chain.ts';
import { headersOf } from '../../../../engine/audio/containers/headers.ts';
import { tracksOf } from '../../../../engine/audio/containers/matroska-tracks.ts';
import { decode } from '../../../../engine/audio/decode.ts';
import { SAMPLE_RATE } from '../../../../engine/types.ts';
import { ffmpeg } from '../../hostile/bench.ts';
import { TICKS, tickFiles } from '../ticks.ts';

const { at, file, joined, check } = tickFiles(t);
const lengthsOf = async (name: string) => (await partsOf(at(name))).map(({ start, end }) => end - start);

t.test('decode() reads all files of a format that ffmpeg knows by its header, where several follow one another in one', async (t) => {
  for (const [extension, ...codec] of [
    ['w64'],
    ['rf64', '-f', 'wav', '-rf64', 'always'],
    ['caf'],
    ['au'],
    ['voc'],
    ['tta'],
    ['flv', '-c:a', 'pcm_s16le'],
    ['rm', '-c:a', 'ac3'],
  ]) {
    await file(`one.${extension}`, 3, 1, 44_100, ...codec);
    joined(`two.${extension}`, `one.${extension}`, `one.${extension}`);
    await check(t, `two.${extension}`, 6, 1);
  }
  await file('slow.au', 3, 1, 8000, '-c:a', 'pcm_mulaw');
  joined('rates.au', 'slow.au', 'one.au');
  await check(t, 'rates.au', 6, 1);
  for (const [name, channels, rate] of [
    ['one.avi', 1, 44_100],
    ['slow.avi', 2, 22_050],
  ] as const)
    await file(name, 3, channels, rate, '-c:a', 'pcm_s16le');
  joined('rates.avi', 'one.avi', 'slow.avi', 'one.avi');
  await check(t, 'rates.avi', 9, 1);
  await file('one.wma', 3, 1, 44_100);
  joined('three.wma', ...new Array(3).fill('one.wma'));
  t.strictSame(await lengthsOf('three.wma'), new Array(3).fill(readFileSync(at('one.wma')).length));
});

t.test('decode() reads AMR files that follow one another as it reads each of them', async (t) => {
  const frames = Array.from({ length: 150 }, (_, i) => [0x3c, ...Array.from({ length: 31 }, (_, byte) => (i * 89 + byte * 57) % 256)]);
  const one = Buffer.concat([Buffer.from('#!AMR\n'), Buffer.from(frames.flat())]);
  writeFileSync(at('two.amr'), Buffer.concat([one, one]));
  const recording = await decode(at('two.amr'));
  t.teardown(() => recording.close());
  t.equal(await recording.decoded, 6 * SAMPLE_RATE);
  t.strictSame(await recording.read(0, 3 * SAMPLE_RATE, 6 * SAMPLE_RATE), await recording.read(0, 0, 3 * SAMPLE_RATE));
});

t.test('decode() reads FLAC and Speex files that follow one another, with any sizes of blocks', async (t) => {
  await file('slow.flac', 3, 1, 16_000, '-frame_size', '1152');
  await file('stereo.flac', 3, 2, 44_100);
  joined('rates.flac', 'slow.flac', 'stereo.flac', 'slow.flac');
  await check(t, 'rates.flac', 9, 1);
  await file('blocks.flac', 3, 1, 16_000, '-frame_size', '2304');
  for (const name of ['slow', 'blocks']) await ffmpeg('-i', at(`${name}.flac`), '-c', 'copy', '-f', 'ogg', at(`${name}.ogg`));
  for (const extension of ['flac', 'ogg']) {
    joined(`both.${extension}`, `slow.${extension}`, `slow.${extension}`, `blocks.${extension}`);
    await check(t, `both.${extension}`, 9, 1);
    t.equal((await partsOf(at(`both.${extension}`))).length, 2, 'files of the same kind are one part');
  }
  await file('one.spx', 3, 1, 16_000);
  joined('two.spx', 'one.spx', 'one.spx');
  await check(t, 'two.spx', 6, 1);
});

t.test('decode() reads FLAC files that follow one another, whose header describes nothing but the samples', async (t) => {
  const bare = (name: string) => {
    const bytes = readFileSync(at(name));
    const first = bytes.subarray(0, 42);
    first[4]! |= 0x80; // the last block of metadata
    let frames = 42;
    for (let last = false; !last; ) {
      last = bytes[frames]! >= 0x80;
      frames += 4 + bytes.readUIntBE(frames + 1, 3);
    }
    writeFileSync(at(`bare ${name}`), Buffer.concat([first, bytes.subarray(frames)]));
  };
  for (const name of ['slow.flac', 'stereo.flac']) bare(name);
  joined('bare.flac', 'bare slow.flac', 'bare stereo.flac', 'slow.flac', 'bare stereo.flac');
  await check(t, 'bare.flac', 12, 2);
});

t.test('decode() reads WebM files that follow one another, also with other tracks, as browsers number them', async (t) => {
  const pictures = ['-f', 'lavfi', '-i', 'color=s=64x64:r=5:d=3', '-f', 'lavfi', '-i', `aevalsrc='${TICKS}':s=48000:d=3`, '-c:v', 'libvpx'];
  const opus = ['-c:a', 'libopus'];
  await file('opus.webm', 3, 1, 48_000, ...opus);
  await file('vorbis.webm', 3, 2, 44_100, '-c:a', 'libvorbis');
  await ffmpeg(...pictures, '-map', '0', '-map', '1', ...opus, at('second.webm'));
  await ffmpeg(...pictures, '-map', '1', '-map', '0', ...opus, at('first.webm'));
  joined('all.webm', 'opus.webm', 'vorbis.webm', 'second.webm', 'first.webm');
  await check(t, 'all.webm', 12, 1);
  await file('live.webm', 3, 1, 48_000, ...opus, '-live', '1');
  joined('long.webm', ...new Array(201).fill('live.webm'));
  t.strictSame(await lengthsOf('long.webm'), [readFileSync(at('long.webm')).length], 'files with the same tracks are one part');
});

t.test('tracksOf() needs the header of a Matroska file', (t) => {
  const bytes = readFileSync(at('opus.webm'));
  const tracks = tracksOf(bytes);
  t.match(tracks, new RegExp(Buffer.from('A_OPUS').toString('hex')));
  t.equal(tracksOf(bytes.subarray(0, 500)), tracks, 'only the beginning');
  t.equal(tracksOf(bytes.subarray(4)), null);
  t.equal(tracksOf(Buffer.alloc(100_000, bytes.subarray(0, 4))), null);
  t.equal(tracksOf(bytes.subarray(0, bytes.indexOf('A_OPUS') - 30)), '', 'no list of tracks');
  t.end();
});

t.test('partsOf() reads few of many headers', async (t) => {
  const [opus, flac] = [readFileSync(at('opus.webm')).subarray(0, 500), readFileSync(at('slow.flac')).subarray(0, 22)];
  writeFileSync(at('many.webm'), Buffer.alloc(4 * 2 ** 20, opus));
  t.equal((await partsOf(at('many.webm'))).length, 1);
  writeFileSync(at('many.flac'), Buffer.alloc(2 ** 20, Buffer.concat([flac, readFileSync(at('stereo.flac')).subarray(0, 22)])));
  await t.rejects(partsOf(at('many.flac')), { code: 'FILE_CORRUPTED', message: /more than 200 files/ });
});

/** Where the files begin that follow one another in these bytes. */
async function startsOf(t: Test, ...parts: Buffer[]): Promise<number[]> {
  const path = at('bytes');
  writeFileSync(path, Buffer.concat(parts));
  const handle = await open(path);
  t.teardown(() => handle.close());
  return headersOf(path, handle, 200);
}

t.test('headersOf() takes what only begins like a header for sound, as the second part of a long AVI file', async (t) => {
  await file('brief.flv', 1, 1, 44_100);
  await file('brief.avi', 1, 1, 44_100, '-c:a', 'pcm_s16le');
  await file('brief.webm', 1, 1, 48_000, '-c:a', 'libopus');
  for (const [name, mark] of [
    ['brief.flv', 'FLV\x01'],
    ['brief.avi', 'RIFF\0\0\0\x01AVIX'],
    ['brief.webm', '\x1a\x45\xdf\xa3'],
  ] as const)
    t.strictSame(await startsOf(t, readFileSync(at(name)), Buffer.from(mark, 'latin1'), Buffer.alloc(100)), [0], name);
});

t.test('headersOf() finds a header wherever the file is divided to be read', async (t) => {
  const header = Buffer.from('.snd\0\0\0\x18', 'latin1');
  for (const before of [0, 1, 3, 6]) {
    const start = 2 ** 20 - before;
    t.strictSame(
      await startsOf(t, header, Buffer.alloc(start - header.length, 1), header, Buffer.alloc(100)),
      [0, start],
      `${before} bytes before`,
    );
  }
});
