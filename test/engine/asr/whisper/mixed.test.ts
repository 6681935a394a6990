import t from 'tap';
import { doubtedParts, sharesOf } from '../../../../engine/asr/whisper/mixed.ts';
import { FACTS } from '../../../support/facts.ts';

const facts = { ...FACTS, firstTimestamp: 100, tick: 0.02 };
const at = (seconds: number) => facts.firstTimestamp + Math.round(seconds / facts.tick);
const speech = [
  { start: 0, end: 5 },
  { start: 5.5, end: 6.5 },
  { start: 7.5, end: 12 },
];

/** A window with a segment per span of speech, each with two tokens of the given log-probability. */
function decoded(means: number[], languages: [code: string, probability: number][], loops = 0) {
  const tokens = means.flatMap((_, i) => [at(speech[i]!.start), 1, 2, at(speech[i]!.end)]);
  const logProbs = means.flatMap((mean) => [0, mean, mean, 0]);
  return { tokens, logProbs, languages: new Map(languages), loops };
}

const parts = (...of: Parameters<typeof decoded>) => doubtedParts(decoded(...of), speech, facts).map(({ span }) => [span.start, span.end]);
const [FIRST, SECOND] = [
  [0, 6.5],
  [7.5, 12],
];

t.test('doubtedParts() finds the part whose text is improbable, a short span with its neighbour', async (t) => {
  t.strictSame(parts([-0.2, -0.3, -1.2], [['de', 0.99]]), [SECOND]);
  t.strictSame(parts([-1.2, -1.4, -0.2], [['de', 0.99]]), [FIRST]);
  const [part] = doubtedParts(decoded([-1, -1.3, -0.2], [['de', 0.99]]), speech, facts);
  t.ok(Math.abs(part!.meanLogProb + 1.15) < 1e-9, 'the mean of its tokens, timestamps excluded');
});

t.test('doubtedParts() returns every part if the language is also uncertain, or the text is repetitive', async (t) => {
  const unclear: [string, number][] = [
    ['en', 0.8],
    ['es', 0.19],
  ];
  t.strictSame(parts([-0.2, -0.3, -1.2], unclear), [FIRST, SECOND]);
  t.strictSame(parts([-0.2, -0.3, -0.4], [['en', 0.99]], 1), [FIRST, SECOND]);
});

t.test('doubtedParts() returns nothing for probable text, or for a certain language in which text is generally improbable', async (t) => {
  t.strictSame(parts([-0.2, -0.3, -0.4], [['en', 0.99]]), []);
  t.strictSame(
    parts(
      [-0.2, -0.3, -0.4],
      [
        ['no', 0.6],
        ['da', 0.35],
      ],
    ),
    [],
  );
  t.strictSame(parts([-1.2, -1.3, -1.4], [['te', 0.97]]), []);
});

t.test('doubtedParts() returns speech without any text', async (t) => {
  t.strictSame(parts([-0.2, -0.3], [['de', 0.99]]), [SECOND]);
});

t.test('doubtedParts() judges every part of a segment by the text of that segment', async (t) => {
  const over = (start: number, end: number, mean: number) => ({
    ...{ tokens: [at(start), 1, 2, at(end)], logProbs: [0, mean, mean, 0], languages: new Map([['en', 0.99]]), loops: 0 },
  });
  t.strictSame(doubtedParts(over(0, 12, -0.3), speech, facts), [], 'its middle lies in the first part, its text in both');
  t.strictSame(
    doubtedParts(over(0, 12, -0.3), speech, facts, true).map(({ span }) => span.start),
    [7.5],
    'with models by language a part without a segment of its own is in doubt',
  );
  const [part, ...others] = doubtedParts(over(0, 8, -0.3), speech, facts);
  t.strictSame([part?.span.start, part?.meanLogProb, others], [7.5, Number.NEGATIVE_INFINITY, []], 'half a second of 4.5 is not its text');
});

t.test('doubtedParts() cannot split speech without a pause', async (t) => {
  t.strictSame(
    doubtedParts(
      decoded(
        [-1.2],
        [
          ['de', 0.5],
          ['en', 0.4],
        ],
      ),
      speech.slice(0, 1),
      facts,
    ),
    [],
  );
});

t.test('sharesOf() returns the share of speech in each language, largest first', async (t) => {
  const part = { language: 'es', span: { start: 7.5, end: 12 } };
  t.strictSame(sharesOf([part], 'en', speech), [
    ['en', 6 / 10.5],
    ['es', 4.5 / 10.5],
  ]);
  t.strictSame(sharesOf([part, { language: 'en', span: { start: 0, end: 6.5 } }], 'de', speech)[0], ['en', 6 / 10.5]);
});
