/* Files with one channel and with two, one after the other in one. */

import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { arranged } from '../../../../engine/audio/channels/arranged.ts';
import { partiesOf } from '../../../../engine/audio/channels/parties.ts';
import { decode } from '../../../../engine/audio/decode.ts';
import { SAMPLE_RATE } from '../../../../engine/types.ts';
import { ffmpeg } from '../../hostile/bench.ts';
import { clip } from '../voices.ts';

const folder = t.testdir();
const at = (name: string) => join(folder, name);
const [CALL, NOTE] = [5, 4]; // seconds of the files with two channels and with one

await ffmpeg('-i', clip('en_faster-whisper_stereo_one-speaker-per-channel.wav'), '-t', String(CALL), at('call.wav'));
await ffmpeg('-i', clip('en_falcon_3spk.wav'), '-t', String(NOTE), at('note.wav'));
await ffmpeg('-i', clip('en_falcon_3spk.wav'), '-t', String(CALL), '-ac', '2', at('room.wav'));

async function opened(...names: string[]) {
  writeFileSync(at('all.wav'), Buffer.concat(names.map((name) => readFileSync(at(name)))));
  const recording = await decode(at('all.wav'));
  t.teardown(() => recording.close());
  const { parties } = await partiesOf(recording);
  const byParty = arranged(recording, parties);
  const loudest = async (channel: number, from: number, to: number) =>
    (await byParty.read(channel, from * SAMPLE_RATE, to * SAMPLE_RATE)).reduce((most, sample) => Math.max(most, Math.abs(sample)), 0);
  return { recording, parties, loudest };
}

t.test('partiesOf() finds both parties of a call before and after a file with one channel, which is of one of them', async (t) => {
  for (const [note, call, ...names] of [
    [0, NOTE, 'note.wav', 'call.wav'],
    [CALL, 0, 'call.wav', 'note.wav'],
  ] as const) {
    const { parties, loudest } = await opened(...names);
    t.strictSame(parties, [[0], [1]], names.join());
    t.ok((await loudest(0, note, note + NOTE)) > 0.05, 'the words are there');
    t.equal(await loudest(1, note, note + NOTE), 0, 'and not twice');
    t.ok((await loudest(1, call, call + CALL)) > 0.05);
  }
});

t.test('partiesOf() finds one party if the two channels are one, or most of the time there is only one', async (t) => {
  const { parties, loudest } = await opened('room.wav', 'note.wav');
  t.strictSame(parties, [[0, 1]]);
  t.ok((await loudest(0, CALL, CALL + NOTE)) > 0.05);
  const { recording } = await opened('note.wav', 'call.wav', 'note.wav', 'note.wav', 'note.wav');
  t.equal(recording.channels, 1);
});
