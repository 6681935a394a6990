import t from 'tap';
import type { Batch, Prediction } from '../../../../../engine/asr/whisper/decoding/batch.ts';
import { advance } from '../../../../../engine/asr/whisper/decoding/beam.ts';
import type { DecodeJob, Hypothesis } from '../../../../../engine/asr/whisper/decoding/decode-job.ts';
import { lseOf } from '../../../../../engine/asr/whisper/decoding/sampling.ts';
import { Vocabulary } from '../../../../../engine/asr/whisper/decoding/vocabulary.ts';
import type { Facts } from '../../../../../engine/asr/whisper/model.ts';
import { AttentionStore } from '../../../../../engine/asr/whisper/timing/attention-store.ts';
import { FACTS } from '../../../../support/engine/facts.ts';

const facts: Facts = { ...FACTS, tick: 1 }; // timestamps of 10 s
const BEAMS = 3;

/** One row of logits: 0, except for the given ones. */
function predicted(given: Record<number, number>): Prediction {
  const all = Float32Array.from({ length: facts.vocabulary }, (_, id) => given[id] ?? 0);
  const text = all.slice(0, facts.endOfText);
  const id = text.indexOf(Math.max(...text));
  return {
    textId: BigInt64Array.of(BigInt(id)),
    textMax: Float32Array.of(text[id]!),
    textLse: Float32Array.of(lseOf([...text])),
    special: all.slice(facts.endOfText),
    text,
    align: new Float32Array(2),
  };
}

/** Advances a single hypothesis by one token. Returns the tokens of its successors. The batch is a stub that counts rows. */
function followed(tokens: number[], given: Record<number, number>, speechAware: boolean, vocabulary?: Vocabulary): number[][] {
  const options = { timestamps: true, speechAware, beamSize: BEAMS, temperature: 0 };
  const job = { options, speech: [{ start: 0, end: 9 }], limit: 40, finished: [], vocabulary } as unknown as DecodeJob;
  const first: Hypothesis = {
    job,
    feed: 0,
    ahead: [],
    tokens,
    logProbs: tokens.map(() => 0),
    attention: [],
    score: 0,
    resumed: [],
    cuts: [],
  };
  const rows = [first];
  let places = 1;
  const batch = { follow() {}, remove() {}, fork: () => places++ } as unknown as Batch;
  const shares = new AttentionStore();
  advance(job, [first], { facts, prediction: predicted(given), numbers: new Map([[first, 0]]), rows, batch, shares });
  return rows.map((row) => row.tokens);
}

t.test('advance() keeps one of several hypotheses that are corrected to the same timestamp', async (t) => {
  const closed = [20, 5, 22]; // a segment of 2 s, with speech after it
  const found = followed(closed, { 10: 8, 26: 7, 27: 7, 28: 7 }, true);
  t.equal(new Set(found.map(String)).size, found.length, JSON.stringify(found));
  t.ok(
    found.every((tokens) => tokens.at(-1) === 22),
    'each would skip speech, and is corrected to the time at which it continues',
  );
});

t.test('advance() continues with as many distinct hypotheses as the beam size', async (t) => {
  const found = followed([20, 5], { 4: 3, 6: 2, 7: 1 }, true);
  t.strictSame(
    found.map((tokens) => tokens.at(-1)),
    [4, 6, 7],
  );
});

t.test('advance() drops a hypothesis that repeats itself, however probable it is', async (t) => {
  const repeated = Array(7).fill(5); // the eighth repetition is a loop
  const found = followed([20, 1, 2, 3, 4, 6, 8, 9, ...repeated], { 5: 9, 7: 4 }, false);
  t.ok(found.length && found.every((tokens) => tokens.at(-1) !== 5), JSON.stringify(found));
  t.equal(found[0]!.at(-1), 7);
});

t.test('advance() prefers a term of the vocabulary among likely tokens, and only there', async (t) => {
  const vocabulary = new Vocabulary([{ text: 'term', forms: [{ tokens: [8, 9] }] }]);
  const first = (given: Record<number, number>, tokens = [20, 5]) => followed(tokens, given, true, vocabulary)[0]!.at(-1);
  t.equal(first({ 4: 12, 8: 11 }), 8, 'almost as likely');
  t.equal(first({ 4: 12, 8: 9 }), 4, 'much less likely');
  t.equal(first({ 4: 12, 9: 11 }), 4, 'not the beginning of a term');
  t.equal(first({ 4: 12, 9: 11 }, [20, 5, 8]), 9, 'the rest of a term');
  const found = followed([20, 5], { 4: 12, 6: 11, 7: 10, 1: 9, 8: 8.8 }, true, vocabulary);
  t.ok(
    found.some((tokens) => tokens.at(-1) === 8),
    'a candidate even if it is not among the most probable tokens',
  );
});
