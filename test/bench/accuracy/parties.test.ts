import t from 'tap';
import { call, LINES, partyErrors, record } from '../../../bench/accuracy/parties.ts';
import { level, SAMPLE_RATE } from '../../../bench/recordings/sound.ts';
import { partiesOf } from '../../../engine/audio/channels/parties.ts';
import { decode } from '../../../engine/audio/decode.ts';
import type { Segment } from '../../../engine/types.ts';

const utterances = [
  { speaker: 'ann', start: 0, end: 2, transcript: 'how old is the bridge' },
  { speaker: 'bob', start: 2, end: 3, transcript: 'very old' },
];

function segment(speaker: number, start: number, ...texts: string[]): Segment {
  const words = texts.map((text, i) => ({ text: ` ${text}`, start: start + 0.4 * i, end: start + 0.4 * i + 0.3, probability: 1 }));
  return { id: 1, speaker, start, end: start + 1, text: texts.join(' '), words };
}

t.test('partyErrors() compares the words of each party, under any assignment of speaker numbers', async (t) => {
  const right = partyErrors(utterances, [segment(1, 0, 'How', 'old', 'is', 'the', 'bridge?'), segment(0, 2, 'Very', 'old.')]);
  t.match(right, { errors: { reference: 7, substituted: 0, deleted: 0, inserted: 0 }, twice: 0, parties: 2 });
});

t.test('partyErrors() counts words assigned to the other party or to a third, and duplicated words', async (t) => {
  const given = partyErrors(utterances, [segment(0, 0, 'how', 'old', 'is', 'the'), segment(1, 1.6, 'bridge', 'very', 'old')]);
  t.match(given.errors, { deleted: 1, inserted: 1 });
  const again = partyErrors(utterances, [
    segment(0, 0, 'how', 'old', 'is', 'the', 'bridge'),
    segment(1, 0.5, 'old'),
    segment(1, 2, 'very', 'old'),
  ]);
  t.match(again, { errors: { deleted: 0, inserted: 1 }, twice: 1 });
  const third = partyErrors(utterances, [...['how', 'very'].map((word, i) => segment(i, i, word)), segment(2, 5, 'bridge')]);
  t.match(third, { errors: { deleted: 5, inserted: 1 }, parties: 3 });
});

t.test('record() writes the two channels of a telephone call', async (t) => {
  const made = await call(3, 15);
  t.equal(made.tracks.length, 2);
  for (const track of made.tracks) t.ok(level(track) > 0.01, 'each party speaks');
  const folder = t.testdir();
  const layouts: Record<string, unknown> = {};
  for (const line of ['a channel each', 'each also on the other, -10 dB, 30 ms late, mp3', 'both on both, mp3']) {
    t.ok(line in LINES);
    const recording = await decode(await record(made, line, folder));
    const length = await recording.decoded;
    t.ok(Math.abs(length - made.tracks[0].length) < SAMPLE_RATE / 10, `${line}: ${length} samples of ${made.tracks[0].length}`);
    layouts[line] = (await partiesOf(recording)).parties;
    await recording.close();
  }
  t.strictSame(layouts, {
    'a channel each': [[0], [1]],
    'each also on the other, -10 dB, 30 ms late, mp3': [[0], [1]],
    'both on both, mp3': [[0, 1]],
  });
});
