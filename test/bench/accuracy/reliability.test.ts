import t from 'tap';
import { judge } from '../../../bench/accuracy/confidence.ts';
import { fitLogistic, type Judged, reliability } from '../../../bench/accuracy/reliability.ts';
import { seeded } from '../../../bench/random.ts';
import { logistic, logit } from '../../../engine/asr/whisper/timing/calibration.ts';

const words = (count: number, confidence: number, right: number): Judged[] =>
  Array.from({ length: count }, (_, i) => ({ confidence, right: i < right }));
const near = (a: number, b: number, by = 1e-9) => Math.abs(a - b) < by;

t.test('reliability() computes ECE, Brier score and AUC of a known case', async (t) => {
  const found = reliability([...words(10, 0.95, 9), ...words(10, 0.55, 2)]);
  t.ok(near(found.ece, (10 * 0.05 + 10 * 0.35) / 20), String(found.ece));
  t.ok(near(found.brier, (9 * 0.05 ** 2 + 0.95 ** 2 + 2 * 0.45 ** 2 + 8 * 0.55 ** 2) / 20), String(found.brier));
  t.ok(near(found.auc, (9 * 8 + 0.5 * (9 * 1 + 2 * 8)) / (11 * 9)), String(found.auc));
  t.strictSame(
    found.bins.map(({ words, right }) => [words, right]),
    [
      [10, 0.2],
      [10, 0.9],
    ],
  );
  t.match(reliability([]), { words: 0, ece: 0, brier: 0, auc: 0.5, bins: [] });
});

t.test('reliability() of words that are right as often as their confidence says has no error', async (t) => {
  t.ok(near(reliability([...words(10, 0.9, 9), ...words(10, 0.5, 5)]).ece, 0));
  t.equal(reliability(words(4, 1, 4)).brier, 0);
});

t.test('fitLogistic() finds the map from which the judgements were drawn', async (t) => {
  const random = seeded(5);
  const drawn = Array.from({ length: 20_000 }, () => {
    const confidence = random.between(0.02, 0.98);
    return { confidence, right: random.next() < logistic(0.6 * logit(confidence) + 1.1) };
  });
  const { slope, intercept } = fitLogistic(drawn);
  t.ok(near(slope, 0.6, 0.05) && near(intercept, 1.1, 0.05), `${slope} ${intercept}`);
  const mapped = drawn.map((word) => ({ ...word, confidence: logistic(slope * logit(word.confidence) + intercept) }));
  t.ok(reliability(mapped).ece < 0.015 && reliability(drawn).ece > 0.1);
  const apart = fitLogistic([...words(5, 0.9, 5), ...words(5, 0.1, 0)]);
  t.ok(Number.isFinite(apart.slope) && apart.slope > 0, 'finite where right and incorrect words do not overlap');
});

t.test('judge() tells right words from wrong and inserted ones', async (t) => {
  const heard = (...texts: string[]) => texts.map((text, i) => ({ text, probability: i / 10 }));
  const rights = (language: string, transcript: string, ...texts: string[]) =>
    judge({ language, transcript }, heard(...texts)).map(({ right }) => right);
  t.strictSame(rights('en', "the cat doesn't sit", ' The', ' big', ' cat', ' doesn’t', ' fit.'), [true, false, true, true, false]);
  t.strictSame(rights('de', 'zum gegenüberliegenden Ufer', ' zum', ' gegenüber', ' liegenden', ' Ufer'), [true, false, false, true]);
  t.strictSame(rights('ja', '客観的実在', '客観', '敵', '実在'), [true, false, true]);
  t.strictSame(rights('en', 'a', ' —'), [], 'punctuation is no word');
});
