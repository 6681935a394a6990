import t from 'tap';
import { interjectionsKept, kept, type Talk, talkWithInterjections } from '../../../bench/accuracy/interjections.ts';
import type { Segment } from '../../../engine/types.ts';

const talk: Talk = {
  name: 'talk',
  samples: new Float32Array(0),
  speakers: 2,
  turns: [
    { speaker: 'ann', start: 0, end: 5 },
    { speaker: 'bob', start: 2, end: 2.4 },
    { speaker: 'bob', start: 5.2, end: 5.6 },
    { speaker: 'bob', start: 6, end: 9 },
  ],
  said: [],
  interjections: [
    { speaker: 'bob', start: 2, end: 2.4, transcript: 'yes', over: true },
    { speaker: 'bob', start: 5.2, end: 5.6, transcript: 'right', over: false },
  ],
};

function segment(speaker: number, ...words: [text: string, start: number, end: number][]): Segment {
  const all = words.map(([text, start, end]) => ({ text: ` ${text}`, start, end, probability: 1 }));
  return { id: 1, speaker, start: all[0]!.start, end: all.at(-1)!.end, text: words.map(([text]) => text).join(' '), words: all };
}

const turn = (speaker: number, start: number, end: number) => ({ speaker, start, end });

t.test('kept() counts interjections with their own turn, those transcribed, and those with the right speaker', async (t) => {
  const turns = [turn(0, 0, 5), turn(1, 2.1, 2.4), turn(0, 5.2, 5.6), turn(1, 6, 9)];
  const segments = [
    segment(1, ['I', 0, 1.8], ['yes', 2, 2.4], ['went', 2.6, 5]),
    segment(0, ['Right.', 5.2, 5.6]),
    segment(0, ['And', 6, 9]),
  ];
  t.strictSame(kept(talk, turns, segments), {
    over: { count: 1, turns: 1, heard: 1, right: 0 },
    pauses: { count: 1, turns: 0, heard: 1, right: 1 },
  });
});

t.test('kept() does not count a word at another time as transcribed', async (t) => {
  const { over } = kept(talk, [turn(0, 0, 5), turn(1, 6, 9)], [segment(0, ['yes', 0, 0.4], ['went', 2, 2.4]), segment(1, ['so', 6, 9])]);
  t.strictSame(over, { count: 1, turns: 0, heard: 0, right: 0 });
});

t.test('kept() counts only complete interjections as transcribed', async (t) => {
  const two = { ...talk, interjections: [{ speaker: 'bob', start: 2, end: 2.4, transcript: 'of course', over: true }] };
  const written = (text: string) => [segment(0, ['I', 0, 1.8], [text, 2, 2.4], ['went', 2.6, 5]), segment(1, ['And', 6, 9])];
  const turns = [turn(0, 0, 5), turn(1, 6, 9)];
  t.equal(kept(two, turns, written('of')).over.heard, 0);
  t.equal(kept(two, turns, written('of course')).over.heard, 1);
});

t.test('talkWithInterjections() adds interjections of listeners during speech and in pauses', async (t) => {
  const made = await talkWithInterjections(2, 30);
  t.ok(made.interjections.some(({ over }) => over) && made.interjections.some(({ over }) => !over));
  for (const { speaker, start, end, over } of made.interjections) {
    const under = made.turns.find((other) => other.speaker !== speaker && other.start <= start && other.end >= end);
    t.equal(under !== undefined, over, `at ${start}`);
  }
});

t.test('interjectionsKept() returns no figures without interjection clips', async (t) => {
  t.equal(await interjectionsKept(undefined as never, '', { data: t.testdir({}) }), undefined);
});
