import t from 'tap';
import { apart, drawnOut, merged, thinStretches } from '../../../../../engine/asr/whisper/guards/omissions.ts';

const FACTS = { firstTimestamp: 1000, tick: 0.02 };
const at = (seconds: number, { firstTimestamp, tick } = FACTS) => firstTimestamp + Math.round(seconds / tick);
const text = (count: number) => Array.from({ length: count }, (_, i) => i + 1);

t.test('thinStretches() finds segments with far too few tokens for their speech', async (t) => {
  const speech = [{ start: 0, end: 24 }];
  const tokens = [at(0), ...text(18), at(7), at(7), ...text(17), at(22.7), at(22.7), ...text(6), at(24)];
  t.match(thinStretches(tokens, speech, FACTS), [{ start: 7, end: 22.7 }]);
  t.equal(thinStretches(tokens, speech, FACTS).length, 1);
  const slower = { ...FACTS, tick: 0.022 };
  t.match(thinStretches([at(0, slower), ...text(17), at(22, slower)], speech, slower), [{ start: 0, end: 22 }], 'with a longer tick');
});

t.test('thinStretches() ignores slow speech, pauses and short segments', async (t) => {
  const speech = [
    { start: 0, end: 9 },
    { start: 20, end: 28 },
  ];
  t.strictSame(thinStretches([at(0), ...text(15), at(9)], speech, FACTS), [], 'slow');
  t.strictSame(thinStretches([at(9), ...text(13), at(28)], speech, FACTS), [], 'it contains a pause of 11 s');
  t.strictSame(thinStretches([at(0), ...text(2), at(4)], speech, FACTS), [], 'short');
  t.strictSame(thinStretches([at(9), at(28)], speech, FACTS), [], 'between segments');
});

t.test('drawnOut() finds a word that spans the time of a skipped sentence, with the speech around it', async (t) => {
  const word = (text: string, start: number, end: number) => ({ text, start, end, probability: 1 });
  const speech = [
    { start: 0, end: 2 },
    { start: 2.2, end: 5 },
    { start: 6, end: 8 },
  ];
  const words = [word(' one', 0, 0.4), word(' said.', 1.5, 4.8), word(' two', 6, 6.3)];
  t.strictSame(drawnOut(words, speech), [{ start: 0, end: 5 }], '2.1 s for the 4 letters of "said"');
  t.strictSame(drawnOut([word(' said.', 4.6, 6.2)], speech), [], 'pauses do not count');
  t.strictSame(drawnOut([word(' circumstances', 2.2, 4.2)], speech), [], 'a long word, spoken slowly');
  t.strictSame(drawnOut([word(' 1813.', 2.2, 4.2)], speech), [], 'a number takes longer to say than its digits suggest');
  t.strictSame(drawnOut([word(' 7.', 2.2, 4.2)], speech), [{ start: 2.2, end: 5 }], 'but not that long');
  t.strictSame(drawnOut([word(' 1813,', 2.2, 4.9)], speech), [{ start: 2.2, end: 5 }], 'nor with a question of 1.5 s after it');
  t.strictSame(
    drawnOut([word(' said.', 3, 8)], [{ start: 0, end: 20 }]),
    [{ start: 3, end: 8 }],
    'a span that is too long is not decoded again as a whole',
  );
});

t.test('drawnOut() takes speech across a pause with it where the sentence goes on there', async (t) => {
  const word = (text: string, start: number, end: number) => ({ text, start, end, probability: 1 });
  const speech = [
    { start: 1, end: 2.5 },
    { start: 4, end: 5.5 },
    { start: 7, end: 17 },
  ];
  const words = [
    word(' 1813,', 1, 2.4),
    word(' her', 4, 4.2),
    word(' conversation', 4.2, 5.5),
    word(' has', 7, 8.1),
    word(' more', 8.1, 8.4),
  ];
  t.strictSame(drawnOut(words, speech), [{ start: 4, end: 8.1 }], 'a question was skipped: its time is under "her conversation"');
  const ended = words.with(2, word(' conversation.', 4.2, 5.5));
  t.strictSame(drawnOut(ended, speech), [{ start: 7, end: 8.1 }], 'not into another sentence');
  const before = [word(' has', 4, 5.2), word(' more', 5.2, 5.5), word(' charms', 7, 8)];
  t.strictSame(drawnOut(before, speech), [{ start: 4, end: 5.5 }]);
  const after = [word(' has', 4, 5.4), word(' more', 7, 8)];
  t.strictSame(drawnOut(after, speech.with(2, { start: 7, end: 9 })), [{ start: 4, end: 9 }], 'and after it');
});

t.test('drawnOut() judges a word by its letters in every script, not by their bytes', async (t) => {
  const speech = [{ start: 0, end: 2 }];
  const isDrawnOut = (text: string) => drawnOut([{ text, start: 0, end: 2, probability: 1 }], speech).length > 0;
  const SAID = { hi: ' कहा।', ta: ' சொல்', ru: ' сказал.', el: ' είπε.', ar: ' قال.', fr: ' créé.', ko: ' 말', ja: ' 言', th: ' พูด' };
  for (const [language, word] of Object.entries(SAID)) t.ok(isDrawnOut(word), `${language}: ${word} in 2 s`);
  const LONG = {
    hi: ' परिस्थितियों',
    ru: ' обстоятельства',
    ar: ' الظروف',
    fr: ' circonstances',
    ko: ' 상황들',
    ja: ' 諸事情',
    th: ' สถานการณ์',
    hi2: ' १८१३',
  };
  for (const [language, word] of Object.entries(LONG)) t.notOk(isDrawnOut(word), `${language}: ${word} in 2 s`);
});

t.test('merged() joins overlapping spans', async (t) => {
  const spans = [
    { start: 5, end: 7 },
    { start: 1, end: 3 },
    { start: 2, end: 5 },
    { start: 9, end: 10 },
  ];
  t.strictSame(merged(spans), [
    { start: 1, end: 7 },
    { start: 9, end: 10 },
  ]);
});

t.test('apart() keeps spans of which less than half lies within others', async (t) => {
  const others = [
    { start: 2, end: 6 },
    { start: 8, end: 9 },
  ];
  const spans = [
    { start: 0, end: 1 },
    { start: 1, end: 4 },
    { start: 5, end: 8 },
    { start: 3, end: 9 },
  ];
  t.strictSame(apart(spans, others), [spans[0], spans[2]]);
  t.strictSame(apart(spans, []), spans);
});
