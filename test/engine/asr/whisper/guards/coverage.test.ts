import t from 'tap';
import type { DecodeResult } from '../../../../../engine/asr/whisper/decoding/decode-job.ts';
import {
  certainShare,
  isCertain,
  leftOut,
  reliable,
  shorter,
  unfilled,
  wordlessSpans,
} from '../../../../../engine/asr/whisper/guards/coverage.ts';
import type { Facts } from '../../../../../engine/asr/whisper/model.ts';
import { AttentionStore } from '../../../../../engine/asr/whisper/timing/attention-store.ts';

const facts = { firstTimestamp: 1000, tick: 0.5 } as Facts;
const at = (seconds: number) => facts.firstTimestamp + seconds / facts.tick;
const FRAMES = 40;
const shares = new AttentionStore();

/** A decoding in which every token attends to its given frame; `ended`: it ended with end-of-text. */
function result(tokens: number[], ended: boolean, frames: number[] = []): DecodeResult {
  const attention = [...tokens, ...(ended ? [0] : [])].map((_, i) =>
    shares.keep(new Float32Array(FRAMES).fill(1, frames[i] ?? 0, (frames[i] ?? 0) + 1)),
  );
  const seen = { languages: new Map(), noSpeech: 0, language: 'en', meanLogProb: -0.3, resumed: [] };
  return { ...seen, tokens, logProbs: tokens.map(() => -0.3), attention };
}

t.test('isCertain() is true for speech with enough certain moments, and false for sounds that never are', async (t) => {
  const speech = [{ start: 0, end: 3 }];
  const levels = (length: number, at: (i: number) => number) => new Float32Array(length).map((_, i) => at(i));
  const natural = levels(30, (i) => (i % 2 ? 1 : 0.8));
  t.ok(isCertain(natural, speech), 'a real voice, with a mean of 0.9 as many have it');
  t.notOk(isCertain(new Float32Array(30).fill(0.93), speech), 'a trumpet reaches this level, but never more');
  t.notOk(
    isCertain(
      levels(30, (i) => (i < 3 ? 1 : 0.93)),
      speech,
    ),
    'a syllable in a tune',
  );
  t.notOk(
    isCertain(
      levels(60, (i) => (i < 30 ? 0.9 : 1)),
      speech,
    ),
    'frames outside of the speech do not count',
  );
  t.notOk(isCertain(undefined, speech), 'no probabilities are known');
  t.equal(certainShare(natural, speech), 0.5);
  t.equal(certainShare(natural, []), 0);
});

t.test('reliable() keeps a decoding that ended regularly', async (t) => {
  const whole = result([at(0), 1, 2, at(4)], true);
  t.strictSame(reliable(whole, 1, facts), { result: whole, until: null });
});

t.test('reliable() keeps a truncated decoding up to its last closed segment', async (t) => {
  const { result: kept, until } = reliable(result([at(0), 1, 2, at(4), at(4), 3, 4], false), 1, facts);
  t.strictSame(kept.tokens, [at(0), 1, 2, at(4)]);
  t.equal(kept.attention.length, 5, 'the next token bounds the last word');
  t.equal(until, 4);
});

t.test('reliable() uses the attention of the latest tokens if no segment was closed', async (t) => {
  const tokens = [at(0), 1, 2, 3, 4, 5, 6, 7, 8, 9];
  const { result: kept, until } = reliable(result(tokens, false, [0, 1, 1, 2, 3, 9, 10, 12, 13, 14]), 1, facts);
  t.strictSame(kept.tokens, tokens);
  t.equal(until, 12 * facts.tick, 'the median of the latest five');
});

t.test('reliable() drops a loop, even if the decoding continued after it', async (t) => {
  const looped = [at(0), 1, 2, at(4), at(4), 7, 8, 7, 8, 7, 8, 7, 8, at(20)];
  const { result: kept, until } = reliable(result(looped, true), 1, facts);
  t.strictSame(kept.tokens, [at(0), 1, 2, at(4)]);
  t.equal(until, 4);
});

t.test('reliable() drops a loop that goes on in other segments', async (t) => {
  const said = (seconds: number) => [at(seconds), 7, 8, at(seconds + 1)];
  const looped = { ...result([at(0), 1, 2, at(4), ...Array.from({ length: 8 }, (_, i) => said(i + 4)).flat()], true), loops: 1 };
  const { result: kept, until } = reliable(looped, 1, facts);
  t.strictSame(kept.tokens, [at(0), 1, 2, at(4)]);
  t.equal(until, 4);
});

t.test('reliable() covers nothing if the decoding begins with a loop', async (t) => {
  const { result: kept, until } = reliable(result([at(0), 7, 8, 7, 8, 7, 8, 7, 8, at(20)], true, [15, 1, 2, 3]), 1, facts);
  t.strictSame(kept.tokens, [at(0)]);
  t.equal(until, 0, 'where its first timestamp attends says nothing');
});

t.test('leftOut() returns speech between segments and after the last one', async (t) => {
  const speech = [{ start: 0, end: 30 }];
  const found = (tokens: number[], until: number | null = null) =>
    leftOut(tokens, speech, until, facts).map(({ start, end }) => [start, end]);
  t.strictSame(found([at(0), 1, at(10), at(15), 2, at(30)]), [[10, 15]]);
  t.strictSame(found([at(0), 1, at(10), at(10), 2, at(20)]), [[20, 30]]);
  t.strictSame(found([at(0), 1, at(10), at(10)]), [[10, 30]], 'a segment that was opened without text');
  t.strictSame(found([at(0), 1, 2]), [], 'an open segment with text extends to the end');
  t.strictSame(found([at(0), 1, at(29.1)]), [], '0.9 s is too short');
  t.strictSame(found([at(0), 1, 2, 3], 12), [[12, 30]], 'the truncated part');
  t.strictSame(leftOut([at(0), 1, at(2)], [{ start: 0, end: 2 }], null, facts), [], 'nothing where there is no speech');
});

t.test('unfilled() returns the left-out spans whose speech no words fill', async (t) => {
  const speech = [{ start: 0, end: 31.2 }];
  const span = { start: 27.9, end: 31.2 };
  const words = (...times: [number, number][]) => times.map(([start, end]) => ({ start, end }));
  t.strictSame(
    unfilled([span], words([27.7, 27.8], [27.9, 28.4], [28.4, 29.5], [29.5, 30.4], [30.4, 31.1]), speech),
    [],
    'a late timestamp',
  );
  t.strictSame(unfilled([span], words([27, 27.8], [31.2, 31.5]), speech), [span], 'no words');
  t.strictSame(unfilled([span], words([27, 30], [30, 31.5]), speech), [span], 'words stretched into it');
  t.strictSame(unfilled([span], words([27.9, 29.2], [29.2, 31.2]), speech), [span], 'words stretched within it');
  t.strictSame(unfilled([span], words([27.9, 28.4], [29.3, 30]), speech), [span], '2.1 s without words');
  t.strictSame(unfilled([span], words([27.9, 28.4], [29.3, 30.3], [30.3, 31.2]), speech), [], '0.9 s without words');
  t.strictSame(unfilled([span], [], [{ start: 0, end: 28 }]), [], 'nothing where there is no speech');
});

t.test('wordlessSpans() returns the speech without words of a decoding without timestamps', async (t) => {
  const speech = [
    { start: 0, end: 9 },
    { start: 11, end: 20 },
  ];
  const words = [
    { start: 0.2, end: 4 },
    { start: 4.6, end: 6 },
  ];
  t.strictSame(wordlessSpans(words, speech), [{ start: 6, end: 20 }]);
  t.strictSame(wordlessSpans([...words, { start: 6.9, end: 19.1 }], speech), [], 'too short to decode again');
  t.strictSame(wordlessSpans([], speech), [{ start: 0, end: 20 }]);
});

t.test('shorter() divides what looped as a whole down to a few seconds, and leaves shorter spans alone', async (t) => {
  const levels = new Float32Array(3000);
  const lengths = (seconds: number, least = 4) => {
    const span = { start: 0, end: seconds };
    return shorter(span, [span], levels, { longest: 30, least }).map(({ start, end }) => end - start);
  };
  for (const seconds of [30, 17, 9, 7, 4.5]) {
    const found = lengths(seconds);
    t.ok(found.length > 1 && found.every((length) => length <= Math.min(8, (2 * seconds) / 3 + 0.01)), `${seconds} s: ${found.join()}`);
    t.ok(Math.abs(found.reduce((a, b) => a + b) - seconds) < 1e-6);
  }
  t.strictSame(lengths(4), [], 'it would be decoded the same way again');
  t.strictSame(lengths(7, 8), [], 'the effort is spent');
  t.strictSame(
    shorter({ start: 10, end: 12 }, [{ start: 0, end: 30 }], levels, { longest: 30, least: 4 }),
    [{ start: 10, end: 12 }],
    'a gap',
  );
  const of30 = (seconds: number) => shorter({ start: 0, end: seconds }, [{ start: 0, end: 30 }], levels, { longest: 30, least: 4 });
  t.strictSame(of30(26.5), [{ start: 0, end: 26.5 }], 'enough less than the whole that it is decoded otherwise');
  t.ok(of30(27.5).length > 1, 'nearly the whole');
});
