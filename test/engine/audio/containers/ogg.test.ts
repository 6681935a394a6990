/* Times of Ogg pages: those of a stream that was under way begin late. */

import { readFileSync, writeFileSync } from 'node:fs';
import t from 'tap';
import { decode } from '../../../../engine/audio/decode.ts';
import { SAMPLE_RATE } from '../../../../engine/types.ts';
import { tickFiles } from '../ticks.ts';

const { at, file, check } = tickFiles(t);
const RATE = 48_000;

/** Checksum of a page (RFC 3533), where its own place is 0. */
function checksum(page: Buffer): number {
  let sum = 0;
  for (const byte of page) {
    sum ^= byte << 24;
    for (let bit = 0; bit < 8; bit++) sum = sum & 0x80000000 ? (sum << 1) ^ 0x04c11db7 : sum << 1;
  }
  return sum >>> 0;
}

/** Adds seconds to the times of the pages from one on. */
function later(bytes: Buffer, seconds: number, first: number): Buffer {
  return timed(bytes, (time, page) => (page >= first ? time + BigInt(seconds * RATE) : time));
}

/** Changes the times of pages that have one. */
function timed(bytes: Buffer, change: (time: bigint, page: number) => bigint): Buffer {
  const copy = Buffer.from(bytes);
  for (let at = 0, page = 0; at < copy.length; page++) {
    const segments = copy.subarray(at + 27, at + 27 + copy[at + 26]!);
    const next = at + 27 + segments.length + segments.reduce((sum, length) => sum + length, 0);
    const time = copy.readBigInt64LE(at + 6);
    if (time > 0n) {
      copy.writeBigInt64LE(change(time, page), at + 6);
      copy.writeUInt32LE(0, at + 22);
      copy.writeUInt32LE(checksum(copy.subarray(at, next)), at + 22);
    }
    at = next;
  }
  return copy;
}

t.test('decode() begins with the first sound of a stream that was recorded two hours after its start, in any codec', async (t) => {
  for (const codec of ['flac', 'libopus', 'libvorbis']) {
    await file('whole.ogg', 6, 1, RATE, '-c:a', codec, '-page_duration', '200000');
    writeFileSync(at(`${codec}.ogg`), later(readFileSync(at('whole.ogg')), 7200, 0));
    await check(t, `${codec}.ogg`, 6, 1);
  }
});

t.test('decode() keeps a pause of an hour in FLAC that begins at its start', async (t) => {
  await file('paused.ogg', 6, 1, RATE, '-c:a', 'flac', '-page_duration', '200000');
  const bytes = readFileSync(at('paused.ogg'));
  writeFileSync(at('paused.ogg'), later(bytes, 3600, 10));
  const recording = await decode(at('paused.ogg'));
  t.teardown(() => recording.close());
  t.equal(Math.round((await recording.decoded) / SAMPLE_RATE), 3606);
});

t.test('decode() calls Opus of which no page has a time damaged, and not of an unsupported codec', async (t) => {
  await file('timeless.ogg', 6, 1, RATE, '-c:a', 'libopus');
  writeFileSync(
    at('timeless.ogg'),
    timed(readFileSync(at('timeless.ogg')), () => -1n),
  );
  const recording = await decode(at('timeless.ogg'));
  t.teardown(() => recording.close());
  await t.rejects(recording.decoded, { code: 'FILE_CORRUPTED' });
});
