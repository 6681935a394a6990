import fc from 'fast-check';
import t from 'tap';
import type { SaidWord } from '../../../engine/transcript/attribute.ts';
import { toSegments } from '../../../engine/transcript/segments.ts';
import { runs } from '../../support/property.ts';

const word = (start: number, end: number, speaker: number | null, text = ' w', channel?: number): SaidWord => ({
  start,
  end,
  speaker,
  text,
  probability: 1,
  channel,
});

t.test('toSegments() starts a segment when the speaker changes and after a pause of more than 2 s', async (t) => {
  const segments = toSegments(
    [word(0, 1, 4, ' a'), word(1, 2, 4, ' b'), word(2, 3, 7, ' c'), word(5, 6, 7, ' d'), word(8.01, 9, 7, ' e')],
    10,
  );
  t.strictSame(
    segments.map(({ id, start, end, speaker, text }) => [id, start, end, speaker, text]),
    [
      [1, 0, 2, 0, 'a b'],
      [2, 2, 6, 1, 'c d'],
      [3, 8.01, 9, 1, 'e'],
    ],
  );
});

t.test('toSegments() ends a segment before it exceeds 60 s', async (t) => {
  const words = Array.from({ length: 150 }, (_, i) => word(i, i + 0.9, 0));
  const segments = toSegments(words, 150);
  t.strictSame(
    segments.map(({ start, end }) => [start, end]),
    [
      [0, 59.9],
      [60, 119.9],
      [120, 149.9],
    ],
  );
});

t.test('toSegments() sets no speaker if not diarized', async (t) => {
  t.strictSame(
    toSegments([word(0, 1, null)], 1).map(({ speaker }) => speaker),
    [null],
  );
});

t.test('toSegments() keeps phrases whole when two parties speak simultaneously', async (t) => {
  const left = [0, 0.5, 1, 1.5].map((start) => word(start, start + 0.4, 0, ' l', 0));
  const right = [0.7, 1.2].map((start) => word(start, start + 0.4, 1, ' r', 1));
  const segments = toSegments(
    [...left, ...right].sort((a, b) => a.start - b.start),
    5,
  );
  t.strictSame(
    segments.map(({ text, start }) => [text, start]),
    [
      ['l l l l', 0],
      ['r r', 0.7],
    ],
  );
});

t.test('toSegments() ends a phrase of a party after a pause of more than 0.5 s', async (t) => {
  const spoken = (pause: number) =>
    toSegments([word(0, 0.5, 0, ' l', 0), word(0.3, 0.9, 1, ' r', 1), word(0.5 + pause, 2, 0, ' l', 0)], 5).map(({ text }) => text);
  t.strictSame(spoken(0.49), ['l l', 'r']);
  t.strictSame(spoken(0.51), ['l', 'r', 'l']);
});

t.test('toSegments() keeps every word, ids without gaps, times in order and within the recording', async () => {
  const any = fc.record({
    start: fc.double({ min: -1, max: 30, noNaN: true }),
    length: fc.double({ min: -0.5, max: 4, noNaN: true }),
    speaker: fc.integer({ min: 0, max: 3 }),
  });
  fc.assert(
    fc.property(fc.array(any), (raw) => {
      const segments = toSegments(
        raw.map(({ start, length, speaker }) => word(start, start + length, speaker)),
        25.1239,
      );
      const ordered = segments.every(({ start }, i) => i === 0 || start >= segments[i - 1]!.start);
      const bounded = segments.every(({ start, end }) => start >= 0 && end >= start && end <= 25.123);
      const named = segments.every(({ speaker }) => speaker! <= new Set(segments.map((s) => s.speaker)).size - 1);
      return (
        ordered &&
        bounded &&
        named &&
        segments.every(({ id }, i) => id === i + 1) &&
        segments.flatMap(({ words }) => words).length === raw.length
      );
    }),
    runs(300),
  );
});
