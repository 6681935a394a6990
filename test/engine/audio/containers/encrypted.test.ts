import { readFileSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { isEncrypted } from '../../../../engine/audio/containers/encrypted.ts';
import { probe } from '../../../../engine/audio/decode.ts';
import { ffmpeg } from '../../hostile/bench.ts';

const folder = t.testdir();
const KEY = ['-encryption_key', '76a6c65c5ea762046bd749a2e632ccbb', '-encryption_kid', 'a7e61c373e219033c21091fa607bf3b8'];
const ENCRYPTED = ['-encryption_scheme', 'cenc-aes-ctr', ...KEY];

async function tone(name: string, ...args: string[]): Promise<string> {
  const path = join(folder, name);
  await ffmpeg('-f', 'lavfi', '-i', 'sine=440:r=48000:d=2', '-strict', '-2', ...args, path);
  return path;
}

t.test('probe() says that an MP4 file is encrypted, whatever its codec', async (t) => {
  const CODECS = { ac3: 'mp4', aac: 'm4a', flac: 'mp4', libmp3lame: 'mp4', libopus: 'mp4', pcm_s16le: 'mov' };
  for (const [codec, extension] of Object.entries(CODECS)) {
    const path = await tone(`${codec}.${extension}`, '-c:a', codec, ...ENCRYPTED);
    await t.rejects(probe(path), { code: 'UNSUPPORTED_CODEC', message: /encrypted/ }, codec);
  }
  t.match(await probe(await tone('clear.m4a')), { tracks: [{ codec: 'aac' }] });
});

t.test('isEncrypted() reads any layout of boxes, and needs samples that are protected', async (t) => {
  const path = await tone('first.m4a', ...ENCRYPTED, '-movflags', '+faststart');
  t.ok(await isEncrypted(path), 'moov first');
  const bytes = readFileSync(path);
  const changed = async (change: (bytes: Buffer) => void) => {
    const copy = Buffer.from(bytes);
    change(copy);
    writeFileSync(join(folder, 'changed.m4a'), copy);
    return isEncrypted(join(folder, 'changed.m4a'));
  };
  t.notOk(await changed((copy) => copy.writeUInt8(0, copy.indexOf('tenc') + 10)), 'protection is declared, but off');
  t.notOk(await changed((copy) => copy.writeUInt32BE(3, copy.indexOf('trak') - 4)), 'a size less than that of its header');
  t.notOk(await changed((copy) => copy.writeUInt32BE(0xffffffff, copy.indexOf('stbl') - 4)), 'a size beyond the file');
  truncateSync(path, bytes.indexOf('stsd'));
  t.notOk(await isEncrypted(path), 'cut off');
});
