import { seeded } from '../random.ts';
import { quantile } from './align.ts';
import { addErrors, type Errors, errorRate, NO_ERRORS } from './normalise.ts';

const DRAWS = 1000;

/**
 * 95 % confidence interval of an error rate by bootstrap: 1,000 resamples of the recordings with replacement. A recording transcribed
 * several times must be a single entry of `parts`, or the interval is too narrow.
 * @param parts errors per recording
 */
export function interval(parts: readonly Errors[], seed = 1): [low: number, high: number] {
  return resampled(parts, errorRateOf, seed);
}

/**
 * The same for the difference of two error rates, the second minus the first, on the same recordings: resampled together, because a difficult recording
 * is difficult for both.
 * @param pairs errors of both per recording
 */
export function differenceInterval(pairs: readonly (readonly [Errors, Errors])[], seed = 1): [low: number, high: number] {
  return resampled(pairs, (some) => errorRateOf(some.map(([, second]) => second)) - errorRateOf(some.map(([first]) => first)), seed);
}

function errorRateOf(parts: readonly Errors[]): number {
  return errorRate(parts.reduce(addErrors, NO_ERRORS));
}

function resampled<T>(parts: readonly T[], value: (parts: readonly T[]) => number, seed: number): [low: number, high: number] {
  const random = seeded(seed);
  const values = Array.from({ length: DRAWS }, () => value(parts.map(() => random.pick(parts))));
  const ascending = values.toSorted((a, b) => a - b);
  return [quantile(ascending, 0.025), quantile(ascending, 0.975)];
}
