import t from 'tap';
import { allowed, speechLeft } from '../../../../../engine/asr/whisper/decoding/constraints.ts';
import { FACTS } from '../../../../support/engine/facts.ts';

/** The ids allowed next. */
function next(tokens: number[], timestamps = true, resumed: number[] = []): number[] {
  const { text, except, endOfText, from, to } = allowed(tokens, FACTS, timestamps, resumed);
  const isAllowed = (id: number) => {
    if (id < 10) return text && !FACTS.suppressed.includes(id) && !except.includes(id);
    return id === 10 ? endOfText : id >= from && id < to;
  };
  return Array.from({ length: FACTS.vocabulary }, (_, id) => id).filter(isAllowed);
}

const WORDS = [0, 1, 2, 4, 5, 6, 7, 8, 9];

t.test('allowed() requires a row to begin with an early timestamp', async (t) => {
  t.strictSame(next([]), [20, 21, 22]);
});

t.test('allowed() allows text or the end after a start, and requires increasing timestamps within a segment', async (t) => {
  t.strictSame(next([20]), [...WORDS, 10], 'after a start: text or end-of-text');
  t.strictSame(next([21, 5]), [...WORDS, 10, 22, 23, 24, 25, 26, 27, 28, 29], 'after text: text, end-of-text or a later timestamp');
});

t.test("allowed() requires a timestamp, not before the segment's end, or the end after a segment", async (t) => {
  t.strictSame(next([21, 5, 25]), [10, 25, 26, 27, 28, 29]);
  t.strictSame(next([21, 5, 25, 26]), [...WORDS, 10], 'after a complete pair: text or end-of-text');
});

t.test('allowed() forbids all timestamps if none are requested', async (t) => {
  t.strictSame(next([], false), [1, 2, 4, 5, 6, 7, 8, 9], 'a row begins neither with a blank nor with end-of-text');
  t.strictSame(next([4], false), [...WORDS, 10]);
});

t.test('allowed() forbids the end right after an overridden token', async (t) => {
  t.strictSame(next([21, 5, 25], true, [2]), [25, 26, 27, 28, 29], 'no end-of-text after a timestamp at which speech continues');
  t.strictSame(next([21, 5, 25, 26], true, [3]), WORDS);
  t.strictSame(next([21, 5, 25, 26, 7], true, [3]), [...WORDS, 10, 27, 28, 29], 'but later');
});

const TIMES = { firstTimestamp: 1000, tick: 0.02 };

t.test('speechLeft() returns the timestamp at which uncovered speech begins', async (t) => {
  const speech = [
    { start: 0, end: 2 },
    { start: 3, end: 5 },
  ];
  t.equal(speechLeft([1000, 5, 1100], speech, TIMES), 1145, '0.1 s before the second span');
  t.equal(speechLeft([1000, 5, 1250], speech, TIMES), null, 'everything is covered');
  t.equal(speechLeft([1000, 5, 1230], speech, TIMES), null, 'less than 0.5 s is left');
  t.equal(speechLeft([1000, 5], speech, TIMES), null, 'a segment is still open');
  t.equal(speechLeft([], speech, TIMES), 1000, 'no segment yet');
  t.equal(speechLeft([1000, 5, 1100], [{ start: 25, end: 27 }], TIMES), 2245, 'close to the end of a window');
  t.equal(speechLeft([1000, 5, 1100], [{ start: 31, end: 33 }], TIMES), 2500, 'never after 30 s, where a window ends');
  t.equal(speechLeft([1000, 5, 1100], speech, { ...TIMES, tick: 0.022 }), 1132, 'with a longer tick');
  const syllables = [3, 4].map((start) => ({ start, end: start + 0.3 }));
  t.equal(speechLeft([1000, 5, 1100], [speech[0]!, ...syllables], TIMES), 1145, 'syllables of 0.3 s count');
  t.equal(speechLeft([1000, 5, 1100], [speech[0]!, { start: 2.5, end: 2.6 }, ...syllables], TIMES), 1145, 'a click of 0.1 s does not');
});

t.test('allowed() requires the segment to be closed after a loop, later the more text it has, and never at once', async (t) => {
  const facts = { ...FACTS, tick: 0.2 };
  const closing = (tokens: number[]) => {
    const { text, endOfText, from, to } = allowed(tokens, facts, true, [], true);
    t.notOk(text || endOfText);
    return [from, to];
  };
  t.strictSame(closing([20, 5]), [22, 24]);
  t.strictSame(closing([20, 5, 6, 7]), [22, 27]);
  t.strictSame(closing([20, 5, 22, 25, 7]), [27, 29], 'after the start of the latest segment');
  t.strictSame(closing([29, 5]), [29, 30], 'at the end of the window');
});
