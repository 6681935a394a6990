/* Files that people upload instead of a recording. */

import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import t from 'tap';
import { foreign } from '../../../../engine/audio/containers/foreign.ts';
import { probe } from '../../../../engine/audio/decode.ts';
import { seeded } from '../../../support/seeded.ts';
import { ffmpeg } from '../../hostile/bench.ts';
import { clip } from '../voices.ts';

const folder = t.testdir();
const at = (name: string) => join(folder, name);
const write = (bytes: string | Buffer) => writeFileSync(at('file'), bytes);

t.test('probe() says what a file is that is no media, and what to do', async (t) => {
  const recording = readFileSync(clip('en_jfk.mp3'));
  for (const [bytes, message] of [
    [gzipSync(recording), /it is compressed with gzip\. Upload the recording that is in it/],
    [Buffer.from('PK\x03\x04\x14\0\0\0'.padEnd(2000, '\0'), 'latin1'), /it is a ZIP archive or an office document/],
    ['%PDF-1.7\n'.padEnd(2000, ' '), /it is a PDF document/],
    [recording.toString('base64'), /it is text in base64\. Decode it/],
    [`data:audio/mpeg;base64,${recording.toString('base64')}`, /it is text in base64/],
    ['<!DOCTYPE html><title>Sign in</title>'.repeat(50), /it is a web page/],
    [`{"error":"${'abgelaufen für Sie '.repeat(50)}"}`, /it is JSON, perhaps an error message/],
    [`<?xml version="1.0"?><Error>${'AccessDenied '.repeat(50)}</Error>`, /it is XML/],
    [`#EXTM3U\n${'part.ts\n'.repeat(200)}`, /it is a playlist/],
    ['Sehr geehrte Damen und Herren, '.repeat(200), /it is text\. /],
    [Buffer.alloc(5000), /it begins with nothing but zeros/],
  ] as const) {
    write(bytes as Buffer);
    await t.rejects(probe(at('file')), { code: 'FILE_CORRUPTED', message });
  }
});

t.test('probe() says which unsupported format a recording has, whatever its name is', async (t) => {
  const { random } = seeded(1);
  const rest = Buffer.from(Array.from({ length: 20_000 }, () => Math.floor(256 * random())));
  for (const [magic, message] of [
    ['\x02#!SILK_V3', /it is a voice message in SILK, as of WeChat or QQ\. Convert it, for example to WAV/],
    ['#!SILK_V3', /SILK/],
    ['\x02dss', /DSS/],
    ['\x03ds2', /DS2/],
    ['MS_VOICESONY CORPORATION', /DVF or MSV/],
  ] as const) {
    write(Buffer.concat([Buffer.from(magic, 'latin1'), rest]));
    await t.rejects(probe(at('file')), { code: 'UNSUPPORTED_CODEC', message });
  }
});

t.test('probe() says that a file is a tar archive', async (t) => {
  const header = Buffer.concat([Buffer.from('recording.amr'.padEnd(257, '\0')), Buffer.from('ustar\x0000'.padEnd(255, '\0'))]);
  write(Buffer.concat([header, Buffer.from('#!AMR\n'), Buffer.alloc(20_000, 0x3c)]));
  await t.rejects(probe(at('file')), { code: 'FILE_CORRUPTED', message: /it is a tar archive\. Upload the recording that is in it/ });
});

t.test('probe() says that the beginning of an Ogg file is missing, not that its codec is unknown', async (t) => {
  await ffmpeg('-i', clip('en_jfk.mp3'), '-c:a', 'libopus', at('whole.ogg'));
  const whole = readFileSync(at('whole.ogg'));
  write(whole.subarray(whole.indexOf('OggS', 4000)));
  await t.rejects(probe(at('file')), { code: 'FILE_CORRUPTED', message: /its beginning is missing/ });
});

t.test('foreign() takes text whose last character is cut off for text, and other bytes for nothing it knows', async (t) => {
  for (const shift of [0, 1]) {
    write(`${'-'.repeat(shift)}${'ß'.repeat(3000)}`);
    t.match(await foreign(at('file')), { message: /it is text/, recording: false });
  }
  write(Buffer.from([0xc3, 0x28, ...Buffer.from('no UTF-8 '.repeat(300))]));
  t.equal(await foreign(at('file')), null);
  write('one\0two'.repeat(300));
  t.equal(await foreign(at('file')), null);
  write('');
  t.match(await foreign(at('file')), { message: /it is empty/ });
});
