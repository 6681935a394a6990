import t from 'tap';
import { changes, doubtedParts, runsOf, sharesOf } from '../../../../../engine/asr/whisper/languages/mixed.ts';
import { FACTS } from '../../../../support/engine/facts.ts';

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

const doubts = (...of: Parameters<typeof doubtedParts>) => doubtedParts(...of).filter(({ doubted }) => doubted);
const parts = (...of: Parameters<typeof decoded>) => doubts(decoded(...of), speech, facts).map(({ span }) => [span.start, span.end]);
const [FIRST, SECOND] = [
  [0, 6.5],
  [7.5, 12],
];

t.test('doubtedParts() finds the part whose text is improbable, a short span with its neighbour', async (t) => {
  t.strictSame(parts([-0.2, -0.3, -1.2], [['de', 0.99]]), [SECOND]);
  t.strictSame(parts([-1.2, -1.4, -0.2], [['de', 0.99]]), [FIRST]);
  const [part] = doubts(decoded([-1, -1.3, -0.2], [['de', 0.99]]), speech, facts);
  t.ok(Math.abs(part!.meanLogProb + 1.15) < 1e-9, 'the mean of its tokens, timestamps excluded');
});

t.test('doubtedParts() doubts every part if the language is uncertain, however probable the text, or the text is repetitive', async (t) => {
  const unclear: [string, number][] = [
    ['en', 0.8],
    ['es', 0.19],
  ];
  t.strictSame(parts([-0.2, -0.3, -0.4], unclear), [FIRST, SECOND]);
  t.strictSame(parts([-0.2, -0.3, -0.4], [['en', 0.99]], 1), [FIRST, SECOND]);
  const improbable = (...of: Parameters<typeof decoded>) => doubtedParts(decoded(...of), speech, facts).map((part) => part.improbable);
  t.strictSame(improbable([-0.2, -0.3, -1.2], unclear), [false, true]);
  t.strictSame(improbable([-0.2, -0.3, -0.4], [['en', 0.99]], 1), [true, true]);
});

t.test('doubtedParts() takes text that is one loop for improbable, although no loop was cut off', async (t) => {
  const said = Array<number[]>(6).fill([1, 2, 3]).flat();
  const looped = { tokens: [at(0), ...said, at(12)], logProbs: Array<number>(20).fill(-0.1), languages: new Map([['es', 0.95]]) };
  t.strictSame(
    doubtedParts(looped, speech, facts).map(({ improbable }) => improbable),
    [true, true],
  );
});

t.test('doubtedParts() doubts every part if all text is improbable: a certain language may be that of the least speech', async (t) => {
  t.strictSame(parts([-1.2, -1.3, -1.4], [['te', 0.97]]), [FIRST, SECOND]);
});

t.test('doubtedParts() returns nothing for probable text in a certain language', async (t) => {
  t.strictSame(doubtedParts(decoded([-0.2, -0.3, -0.4], [['en', 0.99]]), speech, facts), []);
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
    doubts(over(0, 12, -0.3), speech, facts, true).map(({ span }) => span.start),
    [7.5],
    'with models by language a part without a segment of its own is in doubt',
  );
  const [part, ...others] = doubts(over(0, 8, -0.3), speech, facts);
  t.strictSame([part?.span.start, part?.meanLogProb, others], [7.5, Number.NEGATIVE_INFINITY, []], 'half a second of 4.5 is not its text');
});

t.test('doubtedParts() judges a part by its share of each segment, and text without an end as going on', async (t) => {
  const tokens = [at(0), 1, 2, at(5), at(5.5), 1, 2, at(12)];
  const logProbs = [0, -0.2, -0.2, 0, 0, -1.4, -1.4, 0];
  const [first] = doubtedParts({ tokens, logProbs, languages: new Map([['en', 0.99]]) }, speech, facts);
  t.match(first, { span: { end: 6.5 }, improbable: false }, 'a second of its 6.5 lies in the improbable segment');
  const open = { tokens: [at(0), 1, 2], logProbs: [0, -0.2, -0.2], languages: new Map([['en', 0.99]]) };
  t.strictSame(doubtedParts(open, speech, facts), []);
  const late = { tokens: [at(3), 1, 2, at(12)], logProbs: [0, -0.2, -0.2, 0], languages: new Map([['en', 0.99]]) };
  t.strictSame(
    doubts(late, speech, facts, true).map(({ span }) => span.start),
    [0],
    'the middle of the segment lies in the second part',
  );
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

/** Parts of 3 s in languages with the given probabilities; the text of the second one is improbable. */
function sounded(languages: Record<string, number>[]) {
  let start = 0;
  return languages.map((own, i) => {
    const span = { start, end: start + 3 };
    start += 3.5;
    return { span, meanLogProb: -0.2 * (i + 1), improbable: i === 1, doubted: true, languages: new Map(Object.entries(own)) };
  });
}
const runs = (...of: Parameters<typeof sounded>) =>
  runsOf(sounded(...of), 'en').map(({ language, span }) => [language, span.start, span.end]);

t.test('changes() compares the language of each part with that of the window', async (t) => {
  t.ok(changes(sounded([{ en: 0.9 }, { en: 0.9 }, { de: 0.6, en: 0.3 }]), 'en'));
  t.notOk(changes(sounded([{ en: 0.9 }, { en: 0.9 }, { ar: 0.44, en: 0.4 }]), 'en'), 'the likeliest of many');
  t.ok(changes(sounded([{ en: 0.9 }, { ar: 0.44, en: 0.4 }]), 'en'), 'of a part whose text is improbable');
});

t.test('runsOf() joins consecutive parts in one language', async (t) => {
  t.strictSame(runs([{ de: 0.98 }, { de: 0.96 }, { en: 0.99 }]), [
    ['de', 0, 6.5],
    ['en', 7, 10],
  ]);
  const [run] = runsOf(sounded([{ de: 0.96 }, { de: 0.98 }]), 'en');
  t.match(run, { improbable: true, probability: 0.98 });
  t.ok(Math.abs(run!.meanLogProb + 0.3) < 1e-9, 'the mean over its seconds');
});

t.test('runsOf() takes an unclear part for the language of the window, or of a clear part, in which it is far more probable', async (t) => {
  t.strictSame(runs([{ en: 0.98 }, { es: 0.98 }, { pt: 0.77, es: 0.16 }]), [
    ['en', 0, 3],
    ['es', 3.5, 10],
  ]);
});

t.test('runsOf() makes a part in no clear language a run of its own', async (t) => {
  const several: Record<string, number> = { en: 0.4, es: 0.3 };
  const none: Record<string, number> = { la: 0.35, hu: 0.34 };
  t.strictSame(runs([{ es: 0.98 }, several, none, { es: 0.98 }]), [
    ['es', 0, 3],
    [null, 3.5, 6.5],
    [null, 7, 10],
    ['es', 10.5, 13.5],
  ]);
});

t.test('runsOf() counts a run as without text if the longer of its parts is', async (t) => {
  const [first, second] = sounded([{ de: 0.98 }, { de: 0.98 }]);
  const without = { ...second!, meanLogProb: Number.NEGATIVE_INFINITY };
  t.equal(runsOf([first!, { ...without, span: { start: 3.5, end: 5.6 } }], 'en')[0]!.meanLogProb, -0.2);
  t.equal(runsOf([first!, { ...without, span: { start: 3.5, end: 9 } }], 'en')[0]!.meanLogProb, Number.NEGATIVE_INFINITY);
});

t.test('sharesOf() returns the share of speech in each language, largest first', async (t) => {
  const part = { language: 'es', span: { start: 7.5, end: 12 } };
  t.strictSame(sharesOf([part], 'en', speech), [
    ['en', 6 / 10.5],
    ['es', 4.5 / 10.5],
  ]);
  t.strictSame(sharesOf([part, { language: 'en', span: { start: 0, end: 6.5 } }], 'de', speech)[0], ['en', 6 / 10.5]);
});
