import t from 'tap';
import { greedy } from '../../../../engine/asr/ctc/greedy.ts';

const BLANK = 3;

/** Logits with one most probable token per frame. */
function logits(likeliest: number[], height = 4): Float32Array {
  return Float32Array.from(likeliest.flatMap((token) => [0, 1, 2, 3].map((i) => (i === token ? height : 0))));
}

t.test('greedy() collapses repetitions and leaves out blanks', async (t) => {
  const found = greedy(logits([3, 0, 0, 3, 0, 1, 1, 1, 3, 3, 2]), 11, 4, BLANK);
  t.strictSame(
    found.map(({ token, first, end }) => [token, first, end]),
    [
      [0, 1, 3],
      [0, 4, 5],
      [1, 5, 8],
      [2, 10, 11],
    ],
  );
});

t.test('greedy() gives a token the probability of its most probable frame, from logits as from log-probabilities', async (t) => {
  const raw = Float32Array.of(0, 1, 0, 0, 0, 3, 0, 0);
  const expected = 3 - Math.log(Math.exp(3) + 3);
  const [found] = greedy(raw, 2, 4, BLANK);
  t.ok(Math.abs(found!.logProb - expected) < 1e-6);
  const normalised = raw.map((value, i) => value - (i < 4 ? Math.log(Math.E + 3) : Math.log(Math.exp(3) + 3)));
  t.ok(Math.abs(greedy(normalised, 2, 4, BLANK)[0]!.logProb - expected) < 1e-6);
});

t.test('greedy() ignores frames beyond the valid ones', async (t) => {
  t.equal(greedy(logits([0, 3, 1]), 2, 4, BLANK).length, 1);
  t.strictSame(greedy(new Float32Array(0), 0, 4, BLANK), []);
});
