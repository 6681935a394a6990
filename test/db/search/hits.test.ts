import fc from 'fast-check';
import t from 'tap';
import { hitsOf } from '../../../db/search/hits.ts';
import { formsOf } from '../../../db/search/words.ts';

const turnsOf = (texts: readonly string[]) => texts.map((text, k) => ({ id: k + 1, start: k, speaker: null, text }));

t.test('hitsOf() prefers turns with more search words, then earlier ones, and returns them in order', async (t) => {
  const turns = turnsOf(['Late.', 'A late invoice.', 'Lately.', 'The in-voice is late.', 'Invoice?', 'An INVOICE, late']);
  const found = (most: number) => hitsOf(turns, 'late invoice', most).map(({ segment }) => segment);
  t.strictSame([found(1), found(3), found(4), found(9)], [[2], [2, 4, 6], [1, 2, 4, 6], [1, 2, 4, 5, 6]]);
});

t.test('hitsOf() finds the same turns as an examination of every turn (property)', async () => {
  const word = fc.constantFrom('ab', 'a-b', 'abc', 'c', 'é', 'e', 'b.c', 'cd');
  const text = fc.array(word, { maxLength: 6 }).map((words) => words.join(' '));
  fc.assert(
    fc.property(fc.array(text, { maxLength: 12 }), fc.integer({ min: 1, max: 4 }), (texts, most) => {
      const score = (said: string) => ['ab', 'c', 'e'].filter((word) => formsOf(said).has(word)).length;
      const best = texts.map((said, k) => ({ id: k + 1, score: score(said) })).filter((turn) => turn.score);
      best.sort((a, b) => b.score - a.score || a.id - b.id);
      const expected = best.slice(0, most).map(({ id }) => id);
      const found = hitsOf(turnsOf(texts), 'ab c e', most).map(({ segment }) => segment);
      return found.join() === expected.sort((a, b) => a - b).join();
    }),
    { numRuns: 2_000 },
  );
});
