/* Media files that were written one after the other into one, as `cat` does. */

import { readFileSync, writeFileSync } from 'node:fs';
import t from 'tap';
import { partsOf } from '../../../../engine/audio/containers/chain.ts';
import { decode, probe } from '../../../../engine/audio/decode.ts';
import { within } from '../../../../engine/audio/ffmpeg/confine.ts';
import { SAMPLE_RATE } from '../../../../engine/types.ts';
import { ffmpeg } from '../../hostile/bench.ts';
import { TICKS, tickFiles } from '../ticks.ts';

const { at, file, joined, check } = tickFiles(t);

t.test('decode() reads WAV, AIFF and MP4 files that follow one another in one, also with other channels and codecs', async (t) => {
  await file('first.wav', 3, 1, 44_100);
  await file('second.wav', 4, 2, 8000, '-c:a', 'pcm_alaw');
  joined('mono.wav', 'first.wav', 'second.wav', 'first.wav');
  joined('stereo.wav', 'second.wav', 'first.wav');
  await check(t, 'mono.wav', 10, 1);
  await check(t, 'stereo.wav', 7, 2);
  t.match(await probe(at('mono.wav')), { durationSeconds: 10 });
  for (const [extension, ...codec] of [
    ['aiff'],
    ['m4a', '-c:a', 'aac'],
    ['mov', '-c:a', 'pcm_s16le'],
    ['mp4', '-movflags', '+faststart'],
  ]) {
    await file(`one.${extension}`, 4, 1, 44_100, ...codec);
    joined(`two.${extension}`, `one.${extension}`, `one.${extension}`);
    await check(t, `two.${extension}`, 8, 1);
  }
});

t.test('decode() reads chained Ogg streams with another codec, sample rate or number of channels', async (t) => {
  const vorbis = ['-c:a', 'libvorbis'];
  const flac = ['-c:a', 'flac', '-f', 'ogg'];
  await file('vorbis.ogg', 4, 1, 44_100, ...vorbis);
  await file('slow.ogg', 4, 2, 22_050, ...vorbis);
  await file('opus.ogg', 4, 1, 48_000, '-c:a', 'libopus');
  await file('flac.ogg', 4, 1, 44_100, ...flac);
  await file('stereo flac.ogg', 4, 2, 22_050, ...flac);
  joined('codec.ogg', 'vorbis.ogg', 'vorbis.ogg', 'opus.ogg', 'flac.ogg');
  joined('rate.ogg', 'slow.ogg', 'vorbis.ogg');
  joined('flacs.ogg', 'stereo flac.ogg', 'flac.ogg');
  await check(t, 'codec.ogg', 16, 1);
  await check(t, 'rate.ogg', 8, 2);
  await check(t, 'flacs.ogg', 8, 2);
  t.equal((await partsOf(at('codec.ogg'))).length, 3, 'streams of the same kind are one part');
});

t.test('decode() takes words shorter than a second, if there are several, and leaves out damaged files', async (t) => {
  await file('word.wav', 0.6, 1, 8000);
  await file('long.wav', 2, 1, 8000);
  joined('words.wav', 'word.wav', 'word.wav', 'word.wav');
  const recording = await decode(at('words.wav'));
  t.equal(await recording.decoded, 1.8 * SAMPLE_RATE);
  await recording.close();
  await file('half.wav', 0.4, 1, 8000);
  joined('halves.wav', 'half.wav', 'half.wav');
  await t.rejects(decode(at('halves.wav')), { code: 'RECORDING_TOO_SHORT', message: /0.8 s/ });
  joined('damaged.wav', 'long.wav', 'word.wav', 'long.wav');
  const bytes = readFileSync(at('damaged.wav'));
  bytes.writeUInt16LE(0x7777, readFileSync(at('long.wav')).length + 20); // an unknown codec
  writeFileSync(at('damaged.wav'), bytes);
  await check(t, 'damaged.wav', 4, 1);
  await t.rejects(decode(at('damaged.wav'), { maxSeconds: 3 }), { code: 'RECORDING_TOO_LONG' });
});

t.test('decode() reads MP4 files of fragments that follow one another, and those before one that is cut off', async (t) => {
  const fragmented = ['-movflags', '+frag_keyframe+empty_moov+default_base_moof', '-frag_duration'];
  await file('long.mp4', 4, 1, 44_100, ...fragmented, '60000000');
  await file('short.mp4', 4, 1, 44_100, ...fragmented, '1000000');
  joined('fragments.mp4', 'long.mp4', 'short.mp4', 'one.mp4');
  await check(t, 'fragments.mp4', 12, 1);
  await file('index last.mp4', 4, 1, 44_100);
  const last = readFileSync(at('index last.mp4'));
  writeFileSync(at('cut.mp4'), last.subarray(0, last.indexOf('moov')));
  joined('broken.mp4', 'index last.mp4', 'one.mp4', 'cut.mp4');
  await check(t, 'broken.mp4', 8, 1);
  t.equal((await partsOf(at('broken.mp4'))).length, 2, 'without an index it is no file');
});

const FORM = '--3f\r\nContent-Disposition: form-data; name="file"; filename="Gespräch.x"\r\n\r\n';

t.test('decode() reads a file after the text of a form or of HTTP, and after zeros', async (t) => {
  await file('one.webm', 4, 1, 48_000, '-c:a', 'libopus');
  await file('one.opus', 4, 1, 48_000, '-c:a', 'libopus');
  for (const extension of ['wav', 'aiff', 'm4a', 'mov', 'mp4', 'webm', 'opus']) {
    const one = readFileSync(at(`one.${extension}`.replace('one.wav', 'second.wav')));
    for (const [name, before, after] of [
      ['form', FORM, '\r\n--3f--\r\n'],
      ['response', 'HTTP/1.1 200 OK\r\nContent-Type: audio/x\r\n\r\n', ''],
      ['lines', '\ufeff\r\n', ''],
      ['zeros', '\0'.repeat(5000), ''],
    ] as const) {
      writeFileSync(at(`${name}.${extension}`), Buffer.concat([Buffer.from(before), one, Buffer.from(after)]));
      await check(t, `${name}.${extension}`, 4, extension === 'wav' ? 2 : 1);
    }
  }
  const [lead] = await partsOf(at('form.mp4'));
  t.equal(lead?.start, Buffer.byteLength(FORM));
  writeFileSync(at('archive.wav'), Buffer.concat([Buffer.from('PK\x03\x04'), readFileSync(at('one.m4a'))]));
  t.equal((await partsOf(at('archive.wav')))[0]?.start, 0, 'nothing is taken out of an archive');
  writeFileSync(at('bytes.wav'), Buffer.concat([Buffer.from('Gespräch', 'latin1'), readFileSync(at('one.m4a'))]));
  t.equal((await partsOf(at('bytes.wav')))[0]?.start, 0, 'nor from behind bytes that are no text');
});

t.test('decode() reads files of any format after ID3 tags of any length', async (t) => {
  const tag = (bytes: number) => {
    const size = [21, 14, 7, 0].map((bits) => (bytes >> bits) & 0x7f);
    return Buffer.concat([Buffer.from([...Buffer.from('ID3'), 3, 0, 0, ...size]), Buffer.from('APIC'), Buffer.alloc(bytes - 4, 0xa5)]);
  };
  for (const [extension, ...codec] of [['wav'], ['aiff'], ['m4a', '-c:a', 'aac'], ['flac'], ['mp3']] as const) {
    await file(`plain.${extension}`, 4, 1, 44_100, ...codec);
    for (const tags of [[tag(3000)], [tag(3000), tag(500)], [tag(5_000_000)]]) {
      writeFileSync(at(`tagged.${extension}`), Buffer.concat([...tags, readFileSync(at(`plain.${extension}`))]));
      await check(t, `tagged.${extension}`, 4, 1);
    }
  }
});

t.test('decode() reads files of any format after an APE tag with a picture, which has no sound', async (t) => {
  const picture = Buffer.from(Uint32Array.from({ length: 250_000 }, (_, i) => Math.imul(i + 1, 2_654_435_761)).buffer);
  const head = (flags: number) => {
    const bytes = Buffer.alloc(32);
    bytes.write('APETAGEX');
    for (const [i, number] of [2000, picture.length + 32, 1, flags].entries()) bytes.writeUInt32LE(number, 8 + 4 * i);
    return bytes;
  };
  const tag = Buffer.concat([head(0xa0000000), picture, head(0x80000000)]);
  await file('plain.aac', 4, 1, 44_100);
  for (const extension of ['mp3', 'aac', 'flac', 'wav']) {
    const plain = readFileSync(at(`plain.${extension}`));
    writeFileSync(at(`ape.${extension}`), Buffer.concat([tag, plain]));
    await check(t, `ape.${extension}`, 4, 1);
  }
});

t.test('decode() reads WAV, AIFF and MP4 files with other bytes between them, and Ogg behind them', async (t) => {
  const noise = Buffer.from(Array.from({ length: 3001 }, (_, i) => Math.imul(i + 1, 2_654_435_761) >>> 24));
  const [wave, film] = [readFileSync(at('first.wav')), readFileSync(at('one.mp4'))];
  const [aiff, opus] = [readFileSync(at('one.aiff')), readFileSync(at('one.opus'))];
  for (const [name, between] of [
    ['noise', noise],
    ['form', Buffer.from(`\r\n${FORM}`)],
    ['zeros', Buffer.alloc(5001)],
  ] as const) {
    writeFileSync(
      at(`${name}.x`),
      Buffer.concat([wave, between, wave, between, film, between, film, between, aiff, between, wave, between]),
    );
    await check(t, `${name}.x`, 21, 1);
  }
  for (const [name, one, seconds] of [
    ['wave, ogg', wave, 7],
    ['aiff, ogg', aiff, 8],
  ] as const) {
    writeFileSync(at(name), Buffer.concat([one, opus]));
    await check(t, name, seconds, 1);
  }
  writeFileSync(at('gaps.x'), Buffer.concat(new Array(30).fill([wave, noise]).flat()));
  t.equal((await partsOf(at('gaps.x'))).length, 21, 'no more than 20 are looked for');
});

t.test('partsOf() takes a file for one part if its header repeats, or its size is unknown, and knows no more than 200', async (t) => {
  const short = readFileSync(at('short.mp4'));
  const second = short.indexOf('moof', short.indexOf('mdat')) - 4;
  const again = Buffer.concat([short.subarray(0, second), short.subarray(0, short.indexOf('moof') - 4), short.subarray(second)]);
  writeFileSync(at('again.mp4'), again);
  t.strictSame(await partsOf(at('again.mp4')), [{ start: 0, end: again.length, chained: false }]);
  const streamed = readFileSync(at('first.wav'));
  streamed.writeUInt32LE(0xffffffff, streamed.indexOf('data') + 4);
  writeFileSync(at('streamed.wav'), Buffer.concat([streamed, streamed]));
  t.equal((await partsOf(at('streamed.wav'))).length, 1);
  await ffmpeg('-f', 'lavfi', '-i', `aevalsrc='${TICKS}':s=8001:d=1`, '-c:a', 'pcm_u8', at('odd.wav'));
  const odd = readFileSync(at('odd.wav'));
  for (const end of [odd.length, odd.length - 1]) {
    writeFileSync(at('odds.wav'), Buffer.concat([odd.subarray(0, end), odd]));
    t.equal((await partsOf(at('odds.wav')))[1]?.start, end, 'with and without the byte of padding');
  }
  writeFileSync(at('many.wav'), Buffer.concat(new Array(201).fill(odd)));
  await t.rejects(probe(at('many.wav')), { code: 'FILE_CORRUPTED', message: /more than 200 files/ });
});

t.test('partsOf() keeps little of an Ogg file that consists of beginnings of streams', async (t) => {
  const [begin, next] = ['OggS\0\x02', 'OggS\0\0'].map((page) => Buffer.from(page, 'latin1'));
  writeFileSync(at('begins.ogg'), Buffer.alloc(6 * 2 ** 20, begin));
  const before = process.memoryUsage.rss();
  t.equal((await partsOf(at('begins.ogg'))).length, 1);
  const links = Buffer.concat([begin!, Buffer.from('first'), next!, begin!, next!]);
  writeFileSync(at('links.ogg'), Buffer.alloc(6 * 2 ** 20, links));
  await t.rejects(partsOf(at('links.ogg')), { code: 'FILE_CORRUPTED', message: /more than 200 files/ });
  const more = (process.memoryUsage.rss() - before) / 2 ** 20;
  t.ok(more < 60, `${Math.round(more)} MB more`);
});

t.test('within() limits several runs together, ends with a signal, and returns what the work does', async (t) => {
  await file('brief.wav', 1, 1, 8000);
  joined('both.wav', 'brief.wav', 'brief.wav');
  const forever = async (signal: AbortSignal): Promise<never> => {
    for (;;) await (await decode(at('both.wav'), { signal })).close();
  };
  await t.rejects(within(2, undefined, forever), { code: 'PROCESSING_TIMEOUT', message: /after 2 s/ });
  const reason = new Error('deleted');
  await t.rejects(within(60, AbortSignal.abort(reason), forever), reason);
  t.equal(await within(60, undefined, async () => 7), 7);
});

t.test('probe() throws the reason of an abort, also while it reads the file itself', async (t) => {
  const reason = new Error('deleted');
  await file('one.ts', 4, 1, 44_100, '-c:a', 'mp2');
  await file('one.flv', 4, 1, 44_100);
  for (const name of ['vorbis.ogg', 'flac.ogg', 'one.ts', 'one.flv']) {
    const abort = new AbortController();
    const probed = probe(at(name), { signal: abort.signal });
    abort.abort(reason);
    await t.rejects(probed, reason, name);
  }
});
