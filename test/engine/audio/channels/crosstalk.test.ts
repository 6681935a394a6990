import t from 'tap';
import { withoutCrosstalk } from '../../../../engine/audio/channels/crosstalk.ts';
import type { Word } from '../../../../engine/types.ts';
import { noise, other, recordingOf, scaled, speech, sum } from '../voices.ts';

t.test('withoutCrosstalk() assigns a word recognised in both channels to the louder one', async (t) => {
  const tone = (from: number, to: number, gain: number) =>
    Float32Array.from({ length: 16_000 * 6 }, (_, i) => (i >= from * 16_000 && i < to * 16_000 ? gain * Math.sin(i / 5) : 0));
  const left = sum(tone(0, 2, 0.5), tone(3, 4, 0.02));
  const right = sum(tone(0, 1, 0.01), tone(3, 4, 0.5));
  const word = (start: number, channel: number, text: string): Word => ({ start, end: start + 0.9, text, probability: 1, channel });
  const words = [
    word(0.05, 0, ' Hello,'),
    word(1, 0, ' there.'),
    word(0.1, 1, ' hello'),
    word(3.05, 1, ' Yes.'),
    word(3, 0, ' yes'),
    word(3.1, 0, ' own'),
  ];
  const kept = await withoutCrosstalk(words, recordingOf(left, right));
  t.strictSame(
    kept.map(({ text, channel }) => [text, channel]),
    [
      [' Hello,', 0],
      [' there.', 0],
      [' Yes.', 1],
    ],
  );
  const both = [word(0, 0, ' one'), word(0.2, 1, ' two')];
  t.equal((await withoutCrosstalk(both, recordingOf(tone(0, 2, 0.5), tone(0, 2, 0.4)))).length, 2, 'simultaneous speech of both is kept');
});

t.test('withoutCrosstalk() does not mistake a constant offset in both channels for a leak', async (t) => {
  const raised = (samples: Float32Array) => samples.map((x) => x * 0.3 + 0.1);
  const words = [1.75, 2.4, 2.9, 5.4, 6.3, 8.2].flatMap((start) =>
    [0, 1].map((channel): Word => ({ start, end: start + 0.45, text: ` ${channel}${start}`, probability: 1, channel })),
  );
  const kept = await withoutCrosstalk(words, recordingOf(raised(speech), raised(other)));
  const level = await withoutCrosstalk(words, recordingOf(scaled(speech, 0.3), scaled(other, 0.3)));
  t.strictSame(kept, level);
});

t.test(
  'withoutCrosstalk() drops words leaked from the other party, even if recognised differently, and keeps simultaneous speech',
  async (t) => {
    const late = other.map((x, i) => (i < 80_000 ? 0 : x));
    const word = (channel: number, start: number, end: number, text: string): Word => ({ start, end, text, probability: 1, channel });
    const own = [
      word(0, 1.75, 2.4, ' and'),
      word(0, 2.4, 2.9, ' so'),
      word(0, 2.9, 3.8, ' begins'),
      word(1, 5.4, 5.8, ' what'),
      word(1, 6.3, 6.9, ' country'),
      word(0, 6.3, 6.9, ' this'),
      word(1, 8.2, 8.8, ' ask'),
    ];
    const misheard = [word(1, 2.4, 2.9, ' sew'), word(1, 2.95, 3.7, ' be guns')];
    const kept = await withoutCrosstalk([...own, ...misheard], recordingOf(speech, sum(late, scaled(speech, 0.3))));
    t.strictSame(kept.map(({ text }) => text).sort(), own.map(({ text }) => text).sort());
    const lost = own.filter(({ text }) => text !== ' so');
    const moved = await withoutCrosstalk([...lost, ...misheard], recordingOf(speech, sum(late, scaled(speech, 0.3))));
    t.match(moved.find(({ text }) => text === ' sew')?.channel, 0, 'a word recognised only in the leak is assigned to its party');
  },
);

t.test('withoutCrosstalk() assigns a word to the other party if most of its power leaked from there', async (t) => {
  const from = noise(1, 0.2);
  const leak = scaled(from, 0.2);
  const word = (channel: number, start: number): Word => ({ start, end: start + 0.6, text: ` ${start}`, probability: 1, channel });
  const words = [...[0, 0.6, 1.2, 1.8].map((start) => word(0, start)), word(1, 3), word(1, 4.2)];
  /** The channel of the word at 3 s, of whose power this share leaked. */
  const channelAt = async (share: number) => {
    const own = 0.04 * Math.sqrt(1 / share - 1);
    const voice = noise(2, (frame) => (frame < 90 ? 0 : frame < 130 ? own : 0.2)); // silent while only the other party speaks
    const kept = await withoutCrosstalk(words, recordingOf(from, sum(leak, voice)));
    return kept.find(({ start }) => start === 3)?.channel;
  };
  t.equal(await channelAt(0.4), 1);
  t.equal(await channelAt(0.6), 0);
});

t.test('withoutCrosstalk() takes the same word in two channels for one if it starts within 0.3 s', async (t) => {
  const loud = noise(1, 0.2);
  const usual = noise(2, (frame) => (frame < 80 ? 0.15 : 0.2));
  const word = (channel: number, start: number, text: string): Word => ({ start, end: start + 0.15, text, probability: 1, channel });
  for (const [later, texts] of [
    [0.25, [' Yes.', ' well']],
    [0.4, [' Yes.', ' yes', ' well']],
    [1, [' Yes.', ' yes', ' well']],
  ] as const) {
    const kept = await withoutCrosstalk([word(0, 1, ' Yes.'), word(1, 1 + later, ' yes'), word(1, 3, ' well')], recordingOf(loud, usual));
    t.strictSame(
      kept.map(({ text }) => text),
      texts,
      `${later} s later`,
    );
  }
});

t.test('withoutCrosstalk() keeps a word that both parties say at once where neither is heard in the channel of the other', async (t) => {
  const joined = (...parts: Float32Array[]) => Float32Array.from(parts.flatMap((part) => [...part]));
  const both = (frame: number) => frame >= 90; // after 7.7 s
  const ann = joined(
    noise(1, 0.2),
    noise(2, (frame) => (both(frame) ? 0.18 : 0.001)),
  );
  const bob = joined(noise(3, 0.001), noise(4, 0.2));
  const word = (channel: number, start: number, text: string): Word => ({ start, end: start + 0.5, text, probability: 1, channel });
  const alone = [0, 0.5, 1, 1.5, 2].flatMap((start) => [word(0, start, ` ${start}`), word(1, 5 + start, ` ${5 + start}`)]);
  const words = [...alone, word(0, 8, ' Yes.'), word(1, 8.1, ' yes'), word(1, 9, ' Bye.'), word(0, 9.2, ' bye')];
  const textsOf = async (...channels: [Float32Array, Float32Array]) =>
    (await withoutCrosstalk(words, recordingOf(...channels))).map(({ text }) => text.trim());
  t.strictSame((await textsOf(ann, bob)).slice(-4), ['Yes.', 'yes', 'Bye.', 'bye']);
  const soft = ann.map((x, i) => (i < 9.1 * 16_000 ? x : x / 3));
  t.strictSame((await textsOf(soft, bob)).slice(-3), ['Yes.', 'yes', 'Bye.'], 'not one that is 6 dB below its channel');
  const softer = joined(
    noise(3, 0.001),
    noise(4, (frame) => (both(frame) ? 0.14 : 0.2)),
  );
  t.strictSame((await textsOf(ann, softer)).slice(-4), ['Yes.', 'yes', 'Bye.', 'bye']);
  t.strictSame(
    (await textsOf(ann, sum(softer, scaled(ann, 0.2)))).slice(-2),
    ['Yes.', 'bye'],
    'nor the softer one where the other is heard',
  );
});

t.test('withoutCrosstalk() drops what leaked into the channel of a party that says little, however it was recognised', async (t) => {
  const from = noise(1, (frame) => (frame < 150 ? 0.1 : 0));
  const answer = noise(2, (frame) => (frame < 150 ? 0.0005 : 0.5));
  const word = (channel: number, start: number, text: string): Word => ({ start, end: start + 0.4, text, probability: 1, channel });
  const starts = [0, 0.4, 0.8, 1.2, 1.6, 2, 2.4, 2.8, 3.2, 3.6, 4];
  const words = [
    ...starts.map((start) => word(0, start, ` Wort${start}`)),
    ...starts.map((start) => word(1, start + 0.05, ` word${start}`)),
  ];
  const call = recordingOf(sum(from, scaled(answer, 0.03)), sum(scaled(from, 0.03), answer)); // it leaks both ways
  const kept = await withoutCrosstalk([...words, word(1, 4.55, ' Yes.'), word(0, 4.57, ' Nest')], call);
  t.strictSame(
    kept.filter(({ channel }) => channel === 1).map(({ text }) => text),
    [' Yes.'],
  );
  t.equal(kept.length, starts.length + 1);
});
