import { SEED } from './seeded.ts';

/**
 * How fast-check tries a property: the same values at every run, so that a change that breaks nothing stays green. SEED=n tries others,
 * RUNS=n more of them, as in `SEED=7 RUNS=20000 npx tap test/api/export/names.test.ts`. A failure prints its seed, which SEED repeats.
 */
export function runs(usual = 100): { seed: number; numRuns: number } {
  return { seed: SEED, numRuns: Number(process.env.RUNS ?? usual) };
}
