/* Files with extreme values: sample rates, channels, picture sizes, tags, timestamps. Each must finish soon, in bounded memory, with its own sound or an error code. */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { probe } from '../../../engine/audio/decode.ts';
import { each, ffmpeg, hostileFolder, judge } from './bench.ts';
import { box, wav } from './corpus.ts';

const { folder, left } = hostileFolder(t);
const at = (name: string) => join(folder, name);
const write = (name: string, content: Uint8Array) => {
  writeFileSync(at(name), content);
  return at(name);
};
const LIMIT = 600; // maximum duration in these tests, seconds
const MEMORY = 400 * 2 ** 20; // bytes by which this process may grow over all tests, the files above included
const before = process.memoryUsage.rss();
const TONE = ['-f', 'lavfi', '-i', 'sine=1000:d=3'];
await Promise.all([
  ffmpeg(...TONE, at('honest.mp3')),
  ffmpeg(...TONE, '-c:a', 'mp2', '-f', 'mpegts', at('honest.ts')),
  ffmpeg(...TONE, '-c:a', 'aac', at('honest.m4a')),
  ffmpeg(...TONE, '-c:a', 'pcm_s16le', at('honest.mov')),
]);

/** Permitted result of a file: an error code, or a duration in seconds. */
type Wanted = string | [number, number] | null;

async function expect(t: Test, cases: [string, Uint8Array | null, Wanted][]): Promise<void> {
  await each(cases, async ([name, content, wanted]) => {
    const { code, seconds, tookMs, message } = await judge(content ? write(name, content) : at(name), LIMIT);
    const what = `${name}: ${code ?? `${seconds.toFixed(2)} s`} after ${tookMs} ms ${message}`;
    if (wanted === null) t.ok(code || seconds <= LIMIT, what);
    else if (typeof wanted === 'string') t.equal(code, wanted, what);
    else t.ok(!code && seconds >= wanted[0] && seconds <= wanted[1], what);
  });
}

t.test('decode() handles sample rates and channel counts that no recorder has', async (t) => {
  const data = Buffer.alloc(2_000_000);
  await expect(t, [
    ['1hz.wav', wav({ rate: 1, data: data.subarray(0, 200) }), [99, 101]],
    ['1hz-long.wav', wav({ rate: 1, data }), 'RECORDING_TOO_LONG'],
    ['0hz.wav', wav({ rate: 0, data }), null],
    ['768khz.wav', wav({ rate: 768_000, data: Buffer.alloc(4_608_000) }), [2.9, 3.1]],
    ['4ghz.wav', wav({ rate: 0xffffffff, data }), null],
    ['2ghz.wav', wav({ rate: 0x7fffffff, data }), null],
    ['255-channels.wav', wav({ rate: 16_000, channels: 255, data: Buffer.alloc(255 * 64_000) }), null],
    ['65535-channels.wav', wav({ rate: 16_000, channels: 65_535, data: Buffer.alloc(65_535 * 40) }), null],
    ['0-channels.wav', wav({ rate: 16_000, channels: 0, data }), null],
    ['0-bits.wav', wav({ rate: 16_000, bits: 0, data }), null],
    ['64-bits.wav', wav({ rate: 16_000, bits: 64, data }), null],
  ]);
});

t.test('decode() handles tags and pictures larger than the audio', async (t) => {
  const mp3 = readFileSync(at('honest.mp3'));
  const frame = (bytes: number) => {
    const body = Buffer.concat([Buffer.from('\0image/jpeg\0\x03\0', 'latin1'), Buffer.alloc(bytes, 0xff)]);
    const size = Buffer.alloc(4);
    size.writeUInt32BE(body.length);
    return Buffer.concat([Buffer.from('APIC'), size, Buffer.alloc(2), body]);
  };
  const id3 = (frames: Buffer) => {
    const size = Buffer.from([21, 14, 7, 0].map((shift) => (frames.length >> shift) & 127));
    return Buffer.concat([Buffer.from('ID3\x03\0\0', 'latin1'), size, frames, mp3]);
  };
  await ffmpeg(...TONE, '-f', 'lavfi', '-i', 'color=s=64x64:d=3', '-c:v', 'png', '-c:a', 'aac', at('small.mkv'));
  const mkv = readFileSync(at('small.mkv'));
  const [width, height] = [Buffer.from([0xb0, 0x81, 64]), Buffer.from([0xba, 0x81, 64])];
  const wide = Buffer.from(mkv);
  const place = mkv.indexOf(width);
  if (place > 0) wide[place + 2] = 255;
  const png = Buffer.from(mkv);
  for (let i = png.indexOf('IHDR'); i > 0; i = png.indexOf('IHDR', i + 4)) png.writeUInt32BE(0x7fffffff, i + 4);
  t.ok(place > 0 && mkv.indexOf(height) > 0, 'the size fields were found');
  await expect(t, [
    ['picture.mp3', id3(frame(50_000_000)), [2.9, 3.1]],
    ['pictures.mp3', id3(Buffer.concat(Array.from({ length: 2000 }, () => frame(20_000)))), null],
    [
      'tags.mp3',
      id3(
        Buffer.concat(
          Array.from({ length: 3000 }, (_, i) => Buffer.from(`TXXX\0\0\0\x10\0\0\0name${String(i).padStart(6)}\0text`, 'latin1')),
        ),
      ),
      null,
    ],
    ['wide.mkv', wide, [2.9, 3.1]],
    ['vast-png.mkv', png, null],
  ]);
});

t.test('decode() gives up at the limit on a header that would take hours to read', async (t) => {
  const tag = (i: number) => Buffer.from(`ID3\x03\0\0\0\0\0\x1eTXXX\0\0\0\x14\0\0\0name${String(i).padStart(9)}\0texts`, 'latin1');
  const tags = (count: number) => Buffer.concat([...Array.from({ length: count }, (_, i) => tag(i)), readFileSync(at('honest.mp3'))]);
  t.match(await probe(write('few-tags.mp3', tags(100))), { tracks: [{ codec: 'mp3' }] });
  await t.rejects(probe(write('endless-tags.mp3', tags(400_000)), { seconds: 2 }), { code: 'PROCESSING_TIMEOUT' });
});

t.test('decode() handles timestamps that jump, run backwards or are missing', async (t) => {
  const packets = readFileSync(at('honest.ts'));
  /** Shifts the presentation times of all packets after the first third. */
  const leaping = (ticks: bigint) => {
    const bytes = Buffer.from(packets);
    for (let i = Math.floor(packets.length / 3 / 188) * 188; i < bytes.length; i += 188) {
      const start = bytes.indexOf(Buffer.from([0, 0, 1, 0xc0]), i);
      if (start < 0 || start >= i + 188 || !(bytes[start + 7]! & 0x80)) continue;
      const p = start + 9;
      let pts = (BigInt(bytes[p]! & 14) << 29n) | (BigInt(bytes.readUInt16BE(p + 1) >> 1) << 15n) | BigInt(bytes.readUInt16BE(p + 3) >> 1);
      pts = BigInt.asUintN(33, pts + ticks);
      bytes[p] = 0x21 | (Number(pts >> 30n) << 1);
      bytes.writeUInt16BE((Number((pts >> 15n) & 0x7fffn) << 1) | 1, p + 1);
      bytes.writeUInt16BE((Number(pts & 0x7fffn) << 1) | 1, p + 3);
    }
    return bytes;
  };
  const HOUR = 90_000n * 3600n;
  await ffmpeg('-itsoffset', '-7200', '-i', at('honest.m4a'), '-c', 'copy', '-avoid_negative_ts', 'disabled', at('negative.mkv'));
  await ffmpeg('-itsoffset', '86400', '-i', at('honest.m4a'), '-c', 'copy', '-copyts', at('tomorrow.mkv'));
  const mov = readFileSync(at('honest.mov'));
  const elst = mov.indexOf('elst');
  const edited = Buffer.from(mov);
  if (elst > 0) edited.fill(0xff, elst + 8, elst + 20);
  const timeless = Buffer.from(mov);
  for (const atom of ['mvhd', 'mdhd']) timeless.fill(0, timeless.indexOf(atom) + 16, timeless.indexOf(atom) + 24);
  await expect(t, [
    ['leap-1h.ts', leaping(HOUR), [2.5, 3.5]],
    ['leap-12h.ts', leaping(12n * HOUR), [2.5, 3.5]],
    ['back-1h.ts', leaping(-HOUR), [2.5, 3.5]],
    ['negative.mkv', null, null],
    ['tomorrow.mkv', null, null],
    ['edits.mov', edited, null],
    ['timeless.mov', timeless, null],
    ['empty.mp4', Buffer.concat([box('ftyp', Buffer.from('isom\0\0\0\0isom', 'latin1')), box('moov'), box('mdat')]), 'FILE_CORRUPTED'],
  ]);
});

t.test('decode() leaves no files or processes behind, and this process has not grown', async (t) => {
  t.strictSame(await left(), []);
  const grown = process.memoryUsage.rss() - before;
  t.ok(grown < MEMORY, `${Math.round(grown / 2 ** 20)} MiB`);
});
