import t from 'tap';
import { byRecording, rated } from '../../../bench/accuracy/word-errors.ts';
import { countErrors, errorsOfRuns } from '../../../bench/errors/align.ts';
import { differenceInterval, interval } from '../../../bench/errors/bootstrap.ts';
import { addErrors } from '../../../bench/errors/normalise.ts';

const part = (reference: number, substituted: number) => ({ reference, substituted, deleted: 0, inserted: 0 });

t.test('interval() contains the rate, narrows with more recordings, and has no width if all are equal', async (t) => {
  const mixed = (count: number) => Array.from({ length: count }, (_, i) => part(10, i % 4));
  const [few, many] = [interval(mixed(8)), interval(mixed(200))];
  for (const [low, high] of [few, many]) t.ok(low < 0.15 && high > 0.15, `${low} to ${high}`);
  t.ok(many[1] - many[0] < (few[1] - few[0]) / 3, 'the interval of the larger set is less than a third as wide');
  // The rate of 200 recordings of 0 to 3 errors in 10 words: standard error 0.1118 / sqrt(200) = 0.0079.
  t.ok(Math.abs(many[1] - many[0] - 2 * 1.96 * 0.0079) < 0.006, `${many}`);
  t.strictSame(interval([part(10, 1), part(20, 2)]), [0.1, 0.1]);
  t.strictSame(interval(mixed(8)), few, 'the same every time');
});

t.test('differenceInterval() resamples both programs together: what is difficult for both does not widen it', async (t) => {
  const pairs = Array.from({ length: 200 }, (_, i) => [part(10, i % 4), part(10, (i % 4) + (i % 5 === 0 ? 1 : 0))] as const);
  const [low, high] = differenceInterval(pairs);
  // One more error in 10 words for a fifth of the recordings: 0.02, standard error 0.1 * sqrt(0.2 * 0.8 / 200) = 0.0028.
  t.ok(low > 0 && low < 0.02 && high > 0.02, `${low} to ${high}`);
  t.ok(Math.abs(high - low - 2 * 1.96 * 0.0028) < 0.0025, `${high - low}`);
  t.strictSame(differenceInterval(pairs.map(([first]) => [first, first])), [0, 0]);
});

t.test('errorsOfRuns() assigns each error of a joined recording to its sentence', async (t) => {
  const runs = [['a', 'b', 'c'], ['d', 'e'], ['f']];
  const recognised = ['a', 'x', 'c', 'd', 'y', 'f', 'z'];
  const found = errorsOfRuns(runs, recognised);
  t.strictSame(found, [part(3, 1), part(2, 1), { ...part(1, 0), inserted: 1 }]);
  t.strictSame(found.reduce(addErrors), countErrors(runs.flat(), recognised), 'the sum equals the errors of the whole');
});

t.test('byRecording() counts repeated runs of a sentence as one recording', async (t) => {
  const utterances = [{ transcript: 'one' }, { transcript: 'two' }, { transcript: 'one' }];
  const parts = byRecording(utterances, [part(5, 1), part(4, 0), part(5, 2)]);
  t.strictSame(parts, [part(10, 3), part(4, 0)]);
  t.equal(rated(parts).rate, 3 / 14);
});
