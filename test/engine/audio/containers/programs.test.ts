/* MPEG transport streams whose audio goes on in other streams. */

import { readFileSync, writeFileSync } from 'node:fs';
import t from 'tap';
import { partsOf } from '../../../../engine/audio/containers/chain.ts';
import { programsOf } from '../../../../engine/audio/containers/programs.ts';
import { isTransport } from '../../../../engine/audio/containers/transport.ts';
import { ffmpeg } from '../../hostile/bench.ts';
import { TICKS, tickFiles } from '../ticks.ts';

const { at, file, joined, check } = tickFiles(t);
const SECONDS = 4;
const SOUND = ['-f', 'lavfi', '-i', `aevalsrc='${TICKS}':s=48000:d=${SECONDS}`];
const PICTURES = ['-f', 'lavfi', '-i', `color=s=64x64:r=25:d=${SECONDS}`, '-c:v', 'mpeg2video'];

await file('alone.ts', SECONDS, 1, 48_000, '-c:a', 'aac');
await file('mp2.ts', SECONDS, 1, 48_000, '-c:a', 'mp2');
await ffmpeg(...PICTURES, ...SOUND, '-map', '0', '-map', '1', '-c:a', 'aac', at('second.ts'));
await ffmpeg(...SOUND, ...SOUND, '-map', '0', '-map', '1', '-c:a', 'aac', at('both.ts'));
await ffmpeg(...SOUND, '-c:a', 'aac', '-mpegts_service_id', '7', '-mpegts_start_pid', '500', at('other.ts'));

t.test('decode() reads transport streams that follow one another, with other streams, codecs or programs', async (t) => {
  for (const parts of [
    ['alone.ts', 'second.ts'],
    ['second.ts', 'alone.ts'],
    ['alone.ts', 'mp2.ts'],
    ['other.ts', 'alone.ts'],
  ]) {
    joined('all.ts', ...parts);
    await check(t, 'all.ts', 2 * SECONDS, 1);
  }
});

t.test('programsOf() takes a stream for one if some of its audio goes on, if it has several programs, or too many changes', async (t) => {
  joined('more.ts', 'alone.ts', 'both.ts', 'alone.ts');
  t.strictSame(await programsOf(at('more.ts'), 200), [0]);
  const programs = ['-program', 'program_num=1:st=0', '-program', 'program_num=2:st=1'];
  await ffmpeg(...SOUND, ...SOUND, '-map', '0', '-map', '1', '-c:a', 'aac', ...programs, at('programs.ts'));
  t.strictSame(await programsOf(at('programs.ts'), 200), [0]);
  joined('changes.ts', ...new Array(3).fill(['alone.ts', 'mp2.ts']).flat());
  const starts = await programsOf(at('changes.ts'), 200);
  t.equal(starts.length, 6);
  t.equal(starts[1], readFileSync(at('alone.ts')).length + 188, 'from the list of programs on, the second packet');
  t.strictSame(await programsOf(at('changes.ts'), 5), [0]);
});

t.test('programsOf() reads damaged tables', async (t) => {
  joined('damaged.ts', 'alone.ts', 'mp2.ts');
  const bytes = readFileSync(at('damaged.ts'));
  for (let packet = 0; packet < bytes.length; packet += 188)
    if (bytes[packet + 1]! & 0x40) for (let i = 4; i < 40; i++) bytes[packet + i] = (packet * 7 + i * 31) % 256;
  writeFileSync(at('damaged.ts'), bytes);
  t.strictSame(await programsOf(at('damaged.ts'), 200), [0]);
});

t.test('isTransport() needs four packets in a row', async (t) => {
  const bytes = readFileSync(at('alone.ts'));
  t.ok(isTransport(bytes.subarray(100, 2000)));
  t.notOk(isTransport(bytes.subarray(0, 3 * 188)));
  writeFileSync(at('nothing.ts'), Buffer.alloc(5000));
  t.equal((await partsOf(at('nothing.ts'))).length, 1);
});
