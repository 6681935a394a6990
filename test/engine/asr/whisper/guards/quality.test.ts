import t from 'tap';
import { readings } from '../../../../../bench/accuracy/coverage.ts';
import { decideLanguage, otherLanguages } from '../../../../../engine/asr/language.ts';
import type { DecodeResult } from '../../../../../engine/asr/whisper/decoding/decode-job.ts';
import {
  compressionRatio,
  isInvented,
  isPoor,
  isSuspicious,
  isWordless,
  loop,
  loopOfSegments,
  withoutGuesses,
  withoutLoops,
} from '../../../../../engine/asr/whisper/guards/quality.ts';
import { FACTS } from '../../../../support/engine/facts.ts';

const TIME = 1000;

function result(over: Partial<DecodeResult> = {}): DecodeResult {
  const tokens = over.tokens ?? [1, 2, 3];
  return {
    languages: new Map([['en', 0.97]]),
    noSpeech: 0.01,
    language: 'en',
    tokens,
    logProbs: tokens.map(() => -0.2),
    attention: [...tokens, 0].map((token) => Uint8Array.of(token)),
    meanLogProb: -0.3,
    resumed: [],
    ...over,
  };
}

t.test('compressionRatio() distinguishes a loop from speech', async (t) => {
  t.ok(compressionRatio(' Thank you.'.repeat(20)) > 2.4);
  t.ok(compressionRatio('We hold these truths to be self-evident, that all men are created equal.') < 2.4);
  t.equal(compressionRatio(''), 0);
});

t.test('compressionRatio() of prose stays below the threshold, however many bytes its letters take', async (t) => {
  for (const { language, text } of readings()) t.ok(compressionRatio(text) < 2.4, `${language} ${compressionRatio(text).toFixed(2)}`);
  for (const { language, text } of readings(['hi', 'ta', 'ka']))
    t.ok(compressionRatio(text.slice(0, 20).repeat(20)) > 2.4, `${language}: a loop`);
});

t.test('loop() finds tokens that are repeated four times', async (t) => {
  t.strictSame(loop([9, 1, 2, 1, 2, 1, 2, 1, 2, 7]), { start: 1, length: 2, times: 4 });
  t.equal(loop([1, 2, 1, 2, 1, 2]), null, 'three repetitions may be intended');
  t.equal(loop([5, 5, 5, 5]), null, 'so may one word four times');
});

t.test('withoutLoops() keeps one repetition of a loop, attention included', async (t) => {
  const cut = withoutLoops(result({ tokens: [9, 1, 2, 1, 2, 1, 2, 1, 2, 7] }), { firstTimestamp: TIME });
  t.strictSame(cut.tokens, [9, 1, 2, 7]);
  t.equal(cut.logProbs.length, 4);
  t.strictSame(
    cut.attention.map((row) => row[0]),
    [9, 1, 2, 7, 0],
    'the attention of end-of-text is kept',
  );
});

t.test('a loop that goes on in other segments is found only in a row from which a loop was cut off', async (t) => {
  const said = (text: number) => [TIME + text, 1, 2, TIME + text + 1];
  const tokens = [TIME, 8, TIME + 1, ...Array.from({ length: 8 }, (_, i) => said(i + 1)).flat(), TIME + 9, 9, TIME + 10];
  t.equal(loopOfSegments({ tokens, loops: 0 }, { firstTimestamp: TIME }), null, 'short answers may be repeated');
  t.strictSame(loopOfSegments({ tokens, loops: 1 }, { firstTimestamp: TIME }), { start: 4, end: 6 });
  t.equal(loopOfSegments({ tokens: tokens.slice(0, 31), loops: 1 }, { firstTimestamp: TIME }), null, 'seven repetitions');
  const cut = withoutLoops(result({ tokens, loops: 1 }), { firstTimestamp: TIME });
  t.strictSame(cut.tokens, [TIME, 8, TIME + 1, TIME + 1, 1, 2], 'kept once, because what follows cannot be relied upon');
  t.equal(cut.attention.length, 7, 'the attention of end-of-text is kept');
});

t.test('withoutGuesses() removes improbable text after an overridden end', async (t) => {
  const tokens = [TIME, 1, TIME + 50, TIME + 60, 8, 9, TIME + 90];
  const logProbs = [0, -0.1, 0, 0, -2.5, -1.2, 0];
  const unsure = withoutGuesses(result({ tokens, logProbs, resumed: [3] }), { ...FACTS, firstTimestamp: TIME });
  t.strictSame(unsure.tokens, [TIME, 1, TIME + 50]);
  t.equal(unsure.attention.length, 4);
  const sure = withoutGuesses(result({ tokens, logProbs: logProbs.map(() => -0.3), resumed: [3] }), { ...FACTS, firstTimestamp: TIME });
  t.strictSame(sure.tokens, tokens);
});

t.test('isSuspicious() is true at any sign of a hallucination', async (t) => {
  t.notOk(isSuspicious(result(), 'Good morning.', 0.99, FACTS));
  t.ok(isSuspicious(result(), 'Good morning.', 0.95, FACTS), 'faint speech');
  t.ok(isSuspicious(result({ noSpeech: 0.6 }), 'Good morning.', 0.99, FACTS), 'likely silence');
  t.ok(isSuspicious(result({ meanLogProb: -0.95 }), 'Good morning.', 0.99, FACTS), 'doubt');
  t.ok(isSuspicious(result({ languages: new Map([['en', 0.4]]) }), 'Good morning.', 0.99, FACTS), 'no certain language');
  t.ok(isSuspicious(result(), ' Thank you.'.repeat(20), 0.99, FACTS), 'repetition');
  t.ok(isSuspicious(result(), ' Thank you.'.repeat(6), 0.99, FACTS), 'too little repetition');
  t.notOk(isSuspicious(result({ noSpeech: 0.4 }), 'Good morning.', 0.99, FACTS), 'some silence');
  t.notOk(isSuspicious(result({ meanLogProb: -0.85 }), 'Good morning.', 0.99, FACTS), 'some doubt');
});

t.test('isInvented() combines the log-probability with that of the language', async (t) => {
  t.notOk(isInvented(result(), FACTS));
  t.ok(isInvented(result({ noSpeech: 0.75 }), FACTS));
  t.notOk(isInvented(result({ noSpeech: 0.65 }), FACTS));
  t.ok(isInvented(result({ meanLogProb: -0.9, languages: new Map([['cy', 0.3]]) }), FACTS), '-0.9 + 0.5 ln 0.3 is below -1.25');
  t.notOk(isInvented(result({ meanLogProb: -0.6, languages: new Map([['cy', 0.3]]) }), FACTS));
});

t.test('isPoor() is true for low probability, repetition and loops', async (t) => {
  t.notOk(isPoor(result(), 'Good morning.', FACTS));
  t.ok(isPoor(result({ meanLogProb: -1.1 }), 'Good morning.', FACTS));
  t.ok(isPoor(result({ tokens: [1, 2, 1, 2, 1, 2, 1, 2] }), 'Good morning.', FACTS));
});

t.test('decideLanguage() averages probabilities by seconds of speech, so that noise does not win', async (t) => {
  const heard = [
    {
      languages: new Map([
        ['en', 0.99],
        ['cy', 1e-6],
      ]),
      seconds: 20,
    },
    {
      languages: new Map([
        ['en', 1e-9],
        ['cy', 0.4],
      ]),
      seconds: 5,
    },
  ];
  t.equal(decideLanguage(heard).language, 'en');
  t.match(decideLanguage(heard).probability.toFixed(3), '0.792');
});

t.test('otherLanguages() returns languages only if none is certain', async (t) => {
  const heard = (languages: [string, number][]) => otherLanguages({ languages: new Map(languages) });
  t.strictSame(
    heard([
      ['en', 0.9],
      ['de', 0.09],
    ]),
    [],
  );
  t.strictSame(
    heard([
      ['la', 0.49],
      ['en', 0.1],
      ['hu', 0.15],
      ['cy', 0.02],
    ]),
    ['hu', 'en'],
  );
});

t.test('isSuspicious() is true for a text without words', async (t) => {
  for (const text of ['', ' —', ' ♪♪', ' ...']) t.ok(isWordless(text), text);
  for (const text of [' No.', ' 7', ' 对。', ' नहीं']) t.notOk(isWordless(text), text);
  t.notOk(isPoor(result(), ' —', FACTS), 'but no reason for sampling');
  t.ok(isSuspicious(result(), ' —', 1, FACTS));
});
