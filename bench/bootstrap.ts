import { quantile } from './align.ts';
import { addErrors, type Errors, errorRate, NO_ERRORS } from './normalise.ts';
import { seeded } from './random.ts';

const DRAWS = 1000;

/**
 * 95 % confidence interval of an error rate by bootstrap: 1,000 resamples of the recordings with replacement. A recording transcribed
 * several times must be a single entry of `parts`, or the interval is too narrow.
 * @param parts errors per recording
 */
export function interval(parts: readonly Errors[], seed = 1): [low: number, high: number] {
  const random = seeded(seed);
  const rates = Array.from({ length: DRAWS }, () => errorRate(parts.map(() => random.pick(parts)).reduce(addErrors, NO_ERRORS)));
  const ascending = rates.toSorted((a, b) => a - b);
  return [quantile(ascending, 0.025), quantile(ascending, 0.975)];
}
