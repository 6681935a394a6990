/* MP4 files with lists of edits that leave nothing of a track, and with those that leave some. */

import { readFileSync, writeFileSync } from 'node:fs';
import t from 'tap';
import { editedAway } from '../../../../engine/audio/containers/edits.ts';
import { decode } from '../../../../engine/audio/decode.ts';
import { SAMPLE_RATE } from '../../../../engine/types.ts';
import { tickFiles } from '../ticks.ts';

const { at, file, check } = tickFiles(t);
await file('whole.m4a', 4, 1, 48_000, '-c:a', 'aac');
const whole = readFileSync(at('whole.m4a'));
const list = whole.indexOf('elst') + 4;
const rate = 0x10000;

/** A list of edits, whose one edit has the duration of the file in milliseconds and begins after the samples that the encoder adds. */
function edited(name: string, edit: { duration?: number; time?: number }, bytes: Buffer = whole): string {
  const copy = Buffer.from(bytes);
  const { duration = copy.readUInt32BE(list + 8), time = 1024 } = edit;
  for (const [i, value] of [duration, time, rate].entries()) copy.writeInt32BE(value, list + 8 + 4 * i);
  writeFileSync(at(name), copy);
  return at(name);
}

const away = async (path: string) => [...(await editedAway(path, { start: 0, end: whole.length }))];

t.test('decode() reads an MP4 track of which the edits leave nothing', async (t) => {
  t.equal(whole.readUInt32BE(list + 4), 1, 'one edit');
  for (const [name, edit] of [
    ['no duration.m4a', { duration: 0 }],
    ['empty.m4a', { time: -1 }],
    ['beyond.m4a', { time: 4 * 48_000 + 4096 }],
    ['no duration, late.m4a', { duration: 0, time: 2 * 48_000 }],
  ] as const) {
    t.strictSame(await away(edited(name, edit)), [0], name);
    await check(t, name, 4, 1);
  }
});

t.test('decode() keeps to edits that leave some of an MP4 track', async (t) => {
  const path = edited('second half.m4a', { time: 2 * 48_000 + 1024, duration: 1500 });
  t.strictSame(await away(path), []);
  const recording = await decode(path);
  t.teardown(() => recording.close());
  t.ok(Math.abs((await recording.decoded) / SAMPLE_RATE - 1.5) < 0.05);
  const end = whole.readUInt32BE(whole.indexOf('mdhd') + 20);
  t.strictSame(await away(edited('one sample before the end.m4a', { time: end - 1 })), []);
  t.strictSame(await away(edited('at the end.m4a', { time: end })), [0]);
});

t.test('editedAway() takes fragments, damaged and foreign lists of edits as they are', async (t) => {
  const renamed = (name: string, from: string, to: string) => {
    const copy = readFileSync(edited(name, { duration: 0 }));
    copy.write(to, copy.indexOf(from), 'latin1');
    writeFileSync(at(name), copy);
    return at(name);
  };
  t.strictSame(await away(renamed('fragments.m4a', 'udta', 'mvex')), []);
  t.strictSame(await away(renamed('no list.m4a', 'elst', 'free')), []);
  t.strictSame(await away(renamed('no header.m4a', 'mdhd', 'free')), []);
  const none = Buffer.from(whole);
  none.writeUInt32BE(0, list + 4);
  writeFileSync(at('none.m4a'), none);
  t.strictSame(await away(at('none.m4a')), []);
});
