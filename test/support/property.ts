import { SEED } from './seeded.ts';

/**
 * Parameters of fast-check: the same values in every run, so that results are reproducible. SEED=n tries others, RUNS=n more of them, as in
 * `SEED=7 RUNS=20000 npx tap test/api/export/names.test.ts`. A failure prints its seed.
 */
export function runs(usual = 100): { seed: number; numRuns: number } {
  return { seed: SEED, numRuns: Number(process.env.RUNS ?? usual) };
}
