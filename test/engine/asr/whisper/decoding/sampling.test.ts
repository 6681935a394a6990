import t from 'tap';
import type { Prediction } from '../../../../../engine/asr/whisper/decoding/batch.ts';
import { allowed } from '../../../../../engine/asr/whisper/decoding/constraints.ts';
import type { Hypothesis } from '../../../../../engine/asr/whisper/decoding/decode-job.ts';
import { corrected, generator, greedy, logitsOf, lseOf, most, sample, weigh } from '../../../../../engine/asr/whisper/decoding/sampling.ts';
import { type Facts, FORBIDDEN } from '../../../../../engine/asr/whisper/model.ts';
import { FACTS } from '../../../../support/engine/facts.ts';

/** Logits of two rows: 0, except for the given ones of the second. */
function predicted(given: Record<number, number>): Prediction {
  const all = Float32Array.from({ length: 30 }, (_, id) => given[id] ?? 0);
  const text = all.slice(0, 10);
  text[3] = -60_000; // as the model outputs a suppressed token
  const of = (row: Float32Array) => Float32Array.from([...new Float32Array(row.length), ...row]);
  const id = text.indexOf(Math.max(...text));
  return {
    textId: BigInt64Array.of(0n, BigInt(id)),
    textMax: Float32Array.of(0, text[id]!),
    textLse: Float32Array.of(0, lseOf([...text])),
    special: of(all.slice(10)),
    text: of(text),
    align: new Float32Array(2),
  };
}

/** The token chosen after `tokens`, and its probability. */
function chosen(given: Record<number, number>, tokens: number[], timestamps = true, resumed: number[] = []) {
  const { token, logProb } = greedy(weigh(predicted(given), 1, allowed(tokens, FACTS, timestamps, resumed), FACTS));
  return { token, probability: Math.exp(logProb).toFixed(4) };
}

const share = (mine: number, all: number) => (mine / all).toFixed(4);

t.test('greedy() chooses the most probable allowed token', async (t) => {
  const e = Math.E;
  // besides token 4, eight text tokens, end-of-text and the timestamps from 22 on are allowed
  t.strictSame(chosen({ 3: 9, 4: 3, 15: 9, 20: 9 }, [21, 5]), { token: 4, probability: share(e ** 3, e ** 3 + 8 + 1 + 8) });
  t.strictSame(chosen({ 10: 4, 4: 3 }, [21, 5]), { token: 10, probability: share(e ** 4, e ** 4 + e ** 3 + 8 + 8) }, 'end-of-text');
});

t.test('greedy() chooses a timestamp if all of them together are more probable than any text token', async (t) => {
  const e = Math.E;
  t.strictSame(chosen({ 4: 2.5, 25: 2, 26: 2 }, [21, 5]), { token: 25, probability: share(e ** 2, e ** 2.5 + 9 + 2 * e ** 2 + 6) });
  t.equal(chosen({ 4: 3.1, 25: 2, 26: 2 }, [21, 5]).token, 4);
});

t.test(
  'greedy() ignores forbidden tokens: text after a segment, an end before more speech, timestamps between a pair and its text',
  async (t) => {
    const e = Math.E;
    const given = { 4: 9, 10: 5, 24: 9, 26: 1 };
    t.strictSame(
      chosen(given, [21, 5, 25]),
      { token: 10, probability: share(e ** 5, e ** 5 + e + 4) },
      'end-of-text, or timestamps from 25 on',
    );
    t.strictSame(chosen(given, [21, 5, 25], true, [2]), { token: 26, probability: share(e, e + 4) }, 'from 25 on');
    t.strictSame(chosen({ 4: 1, 25: 9 }, [21, 5, 25, 25]), { token: 4, probability: share(e, e + 8 + 1) }, 'text or end-of-text');
    t.strictSame(
      chosen({ 4: 9, 10: 9, 22: 1, 23: 9 }, []),
      { token: 22, probability: share(e, e + 2) },
      'a row begins with an early timestamp',
    );
    t.strictSame(
      chosen({ 0: 9, 10: 9, 4: 1, 22: 9 }, [], false),
      { token: 4, probability: share(e, e + 7) },
      'and with text if timestamps are off',
    );
  },
);

t.test('logitsOf() contains the logits of allowed tokens, with the same scores', async (t) => {
  const given = { 0: 1, 3: 7, 4: 2, 10: 0.5, 12: 9, 20: 3, 24: 1.5, 29: -1 };
  const prediction = predicted(given);
  for (const [tokens, timestamps, resumed] of [
    [[], true, []],
    [[], false, []],
    [[4], false, []],
    [[21], true, []],
    [[21, 5], true, []],
    [[21, 5, 25], true, []],
    [[21, 5, 25], true, [2]],
    [[21, 5, 25, 26], true, [3]],
  ] as [number[], boolean, number[]][]) {
    const may = allowed(tokens, FACTS, timestamps, resumed);
    const logits = [...logitsOf(prediction, 1, may, FACTS)];
    const scores = weigh(prediction, 1, may, FACTS);
    const name = `after ${tokens}`;
    t.ok(Math.abs(lseOf(logits) - scores.lse) < 1e-5, name);
    t.equal(Math.max(...logits.slice(0, 20)), scores.textMax, name);
    t.equal(Math.max(...logits.slice(20)), scores.timeMax, name);
    t.ok(scores.textMax === FORBIDDEN || logits.indexOf(scores.textMax) === scores.textId, name);
    t.ok(scores.timeMax === FORBIDDEN || logits.indexOf(scores.timeMax, 20) === scores.timeId, name);
  }
});

t.test('most() and sample() never choose a forbidden token', async (t) => {
  const prediction = predicted({ 3: 9, 4: 3, 5: 2, 10: 2.5, 12: 9, 22: 1 });
  const may = allowed([21, 5], FACTS, true);
  const [logits, scores] = [logitsOf(prediction, 1, may, FACTS), weigh(prediction, 1, may, FACTS)];
  t.strictSame(
    most(logits, scores, FACTS, 3).map(({ token }) => token),
    [4, 10, 5],
  );
  const random = generator(1);
  const drawn = new Set(Array.from({ length: 2000 }, () => sample(logits, scores, FACTS, 1, random).token));
  t.strictSame(
    [...drawn].sort((a, b) => a - b),
    [0, 1, 2, 4, 5, 6, 7, 8, 9, 10, 22, 23, 24, 25, 26, 27, 28, 29],
  );
});

const TIMES = { endOfText: 10, firstTimestamp: 1000, tick: 0.02 } as Facts;

/** The correction of a token after a segment from 0 to 2 s, with speech up to 10 s, in a row with so many overrides and cuts before. */
function correctedAfter(token: number, overrides = 0, cuts = 0): number | null {
  const job = { options: { speechAware: true }, speech: [{ start: 0, end: 10 }] };
  const row = { job, tokens: [1000, 5, 1100], resumed: Array(overrides).fill(0), cuts: Array(cuts).fill(1) };
  return corrected(token, row as unknown as Hypothesis, TIMES);
}

t.test('corrected() lets no segment skip 0.6 s of speech, nor a row end before its last speech', async (t) => {
  t.equal(correctedAfter(1100 + 27), null, '0.54 s');
  t.equal(correctedAfter(1100 + 33), 1100, '0.66 s');
  t.equal(correctedAfter(10), 1100);
});

t.test('corrected() leaves the choice to the model after four overrides in a row, and one more for each loop cut off', async (t) => {
  t.equal(correctedAfter(10, 3), 1100);
  t.equal(correctedAfter(10, 4), null);
  t.equal(correctedAfter(10, 4, 1), 1100);
  t.equal(correctedAfter(10, 5, 1), null);
});
