/* WAV files whose header gives less than they have. */

import { readFileSync, writeFileSync } from 'node:fs';
import t from 'tap';
import { goesOnAfterEnd } from '../../../../engine/audio/containers/waves.ts';
import { probe } from '../../../../engine/audio/decode.ts';
import { tickFiles } from '../ticks.ts';

const { at, file, check } = tickFiles(t);
const RATE = 8000;
await file('whole.wav', 4, 1, RATE);
await file('whole.rf64', 4, 1, RATE, '-f', 'wav', '-rf64', 'always');
const [wave, large] = [readFileSync(at('whole.wav')), readFileSync(at('whole.rf64'))];
const SECOND = 2 * RATE; // bytes

function write(name: string, ...parts: Buffer[]): string {
  writeFileSync(at(name), Buffer.concat(parts));
  return at(name);
}

/** A WAV file that gives a size of its samples. */
function sized(bytes: number): Buffer {
  const copy = Buffer.from(wave);
  copy.writeUInt32LE(bytes, copy.indexOf('data') + 4);
  return copy;
}

const goesOn = (path: string) => goesOnAfterEnd(path, { start: 0, end: readFileSync(path).length });

t.test('decode() reads WAV, RF64 and BW64 files beyond a size that was written before their end', async (t) => {
  for (const bytes of [SECOND, SECOND + 1]) {
    write('short.wav', sized(bytes));
    await check(t, 'short.wav', 4, 1);
    t.match(await probe(at('short.wav')), { durationSeconds: null });
  }
  for (const [name, bytes] of [
    ['RF64', SECOND],
    ['RF64', 0],
    ['BW64', SECOND],
    ['BW64', 0],
  ] as const) {
    const copy = Buffer.from(large);
    copy.write(name);
    copy.writeBigUInt64LE(BigInt(bytes), copy.indexOf('ds64') + 16);
    write('short.rf64', copy);
    await check(t, 'short.rf64', 4, 1);
  }
});

t.test('goesOnAfterEnd() takes chunks, zeros, a few bytes and the next file for what they are', async (t) => {
  const [odd, noise] = [sized(SECOND + 1), wave.subarray(-SECOND)];
  const head = odd.subarray(0, odd.indexOf('data') + 8 + SECOND + 1);
  const list = Buffer.from('LIST\0\x40\0\0'.padEnd(8 + 0x4000, 'note'), 'latin1');
  t.ok(await goesOn(write('on.wav', head, noise)));
  t.notOk(await goesOn(at('whole.wav')));
  t.notOk(await goesOn(at('whole.rf64')));
  t.notOk(await goesOn(write('chunk.wav', head, list)), 'a chunk');
  t.notOk(await goesOn(write('padded.wav', head, Buffer.alloc(1), list)), 'a chunk after a byte of padding');
  t.ok(await goesOn(write('cut.wav', head, list.subarray(0, -1))), 'a chunk that does not fit');
  t.notOk(await goesOn(write('reserved.wav', head, Buffer.alloc(100_000))), 'reserved space');
  t.notOk(await goesOn(write('few.wav', head, noise.subarray(0, 8191))), 'less than 8 KB');
  t.notOk(await goesOn(write('streamed.wav', sized(0xffffffff))), 'a stream');
  t.notOk(await goesOn(write('other.wav', wave.subarray(0, 12), list, noise)), 'no samples');
  const both = write('both.wav', head, noise, wave);
  t.notOk(await goesOnAfterEnd(both, { start: 0, end: head.length + noise.length }), 'a part that others follow');
});
