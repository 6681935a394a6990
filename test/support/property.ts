import fc from 'fast-check';
import { SEED } from './seeded.ts';

/**
 * Parameters of fast-check: the same values in every run, so that results are reproducible. SEED=n tries others, RUNS=n more of them, as in
 * `SEED=7 RUNS=20000 npx tap test/api/export/names.test.ts`. A failure prints its seed.
 */
export function runs(usual = 100): { seed: number; numRuns: number } {
  return { seed: SEED, numRuns: Number(process.env.RUNS ?? usual) };
}

/** A unit of strings: any code point but surrogates. fast-check's own, `binary`, takes 1 s of CPU time to prepare. */
export const ANY_CHARACTER = fc
  .oneof(fc.integer({ min: 0, max: 0xd7ff }), fc.integer({ min: 0xe000, max: 0x10ffff }))
  .map((code) => String.fromCodePoint(code));
