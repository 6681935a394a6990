import fc from 'fast-check';
import { distance } from 'fastest-levenshtein';
import t from 'tap';
import { countErrors, longestGap, matches, wordsAttributed, wordTimes } from '../../../bench/errors/align.ts';
import type { Conversation } from '../../../bench/recordings/conversations.ts';
import type { Segment } from '../../../engine/types.ts';

const made: Conversation = {
  name: 'made',
  samples: new Float32Array(0),
  speakers: 2,
  turns: [],
  said: [
    { speaker: 'ann', start: 0.5, end: 2, transcript: 'how old is the bridge' },
    { speaker: 'bob', start: 3, end: 4, transcript: "I don't know" },
    { speaker: 'ann', start: 5, end: 5.5, transcript: 'really' },
  ],
};

function segment(speaker: number, ...words: [text: string, start: number, end: number][]): Segment {
  const list = words.map(([text, start, end]) => ({ text: ` ${text}`, start, end, probability: 1 }));
  return { id: 1, speaker, start: list[0]!.start, end: list.at(-1)!.end, text: '', words: list };
}

t.test('matches() pairs the equal words of the alignment with the fewest errors', async (t) => {
  const said = 'a b c d e'.split(' ');
  t.strictSame(matches(said, 'a x c d f e'.split(' ')), [
    [0, 0],
    [2, 2],
    [3, 3],
    [4, 5],
  ]);
  t.strictSame(matches(said, []), []);
  t.strictSame(matches([], said), []);
});

t.test('matches() finds as many equal words as the error count implies', async (t) => {
  const texts = ['the cat sat on the mat', 'a cat sat the on mat', 'on on on', 'mat', 'the cat the cat sat'].map((text) => text.split(' '));
  for (const a of texts) {
    for (const b of texts) {
      const { substituted, deleted, inserted } = countErrors(a, b);
      const pairs = matches(a, b);
      t.ok(pairs.every(([i, j], n) => a[i] === b[j] && (n === 0 || (i > pairs[n - 1]![0] && j > pairs[n - 1]![1]))));
      t.ok(Math.max(a.length, b.length) - pairs.length <= substituted + deleted + inserted);
    }
  }
});

t.test('countErrors() equals the Levenshtein distance (property)', async (t) => {
  const words = fc.array(fc.constantFrom('a', 'b', 'c', 'd'), { maxLength: 12 });
  fc.assert(
    fc.property(words, words, (reference, hypothesis) => {
      const { substituted, deleted, inserted } = countErrors(reference, hypothesis);
      t.equal(hypothesis.length - reference.length, inserted - deleted);
      return substituted + deleted + inserted === distance(reference.join(''), hypothesis.join(''));
    }),
  );
});

t.test('longestGap() distinguishes a dropped sentence from scattered missing words', async (t) => {
  const said = 'a b c d e f g'.split(' ');
  t.equal(longestGap(said, said), 0);
  t.equal(longestGap(said, 'a c e g'.split(' ')), 1);
  t.equal(longestGap(said, 'a e f g'.split(' ')), 3);
  t.equal(longestGap(said, 'a x y e f g'.split(' ')), 1, 'a substituted word is not missing');
  t.equal(longestGap(said, []), 7);
  t.equal(longestGap([], said), 0);
});

t.test('wordsAttributed() counts words by the clip they came from, under the best mapping of speakers', async (t) => {
  const found = [
    segment(7, ['How', 0.5, 0.7], ['odd', 0.7, 0.9], ['is', 0.9, 1], ['the', 1, 1.1], ['bridge?', 1.1, 2]),
    segment(3, ['I', 3, 3.2], ["don't", 3.2, 3.6], ['know.', 3.6, 4], ['Really?', 5, 5.5]),
  ];
  t.strictSame(wordsAttributed(made, found), { right: 8, total: 9 }); // "odd" was misrecognised, "really" has the wrong speaker
});

t.test('wordTimes() compares the first and last word of each clip with the start and end of its speech', async (t) => {
  const found = [
    segment(0, ['How', 0.6, 0.7], ['old', 0.7, 0.9], ['is', 0.9, 1], ['the', 1, 1.1], ['bridge?', 1.1, 1.75]),
    segment(1, ['I', 3.5, 3.6], ["don't", 3.4, 3.6], ['no.', 3.6, 4]),
  ];
  const { errors, unheard, disordered } = wordTimes(made, found, 3.9);
  t.strictSame(
    errors.map((error) => Math.round(error * 100) / 100),
    [0.1, 0.25, 0.5],
  );
  t.equal(unheard, 3, '"know", and both edges of "really"');
  t.equal(disordered, 2, 'one starts before the previous word, one ends after the recording');
});
