import { seeded as numbers } from '../../bench/random.ts';

/** Seeded random choices for tests: a failure prints its seed, and SEED=n repeats it. */
export interface Seeded {
  seed: number;
  /** 0 to 1. */
  random(): number;
  /** An integer from 0 below `end`. */
  below(end: number): number;
  pick<T>(from: readonly T[]): T | undefined;
}

/** SEED, or a fixed default, so that results depend on the code and not on chance. */
export const SEED = Number(process.env.SEED ?? 1);

export function seeded(seed = SEED): Seeded {
  const { next: random } = numbers(seed);
  const below = (end: number) => Math.floor(random() * end);
  return { seed, random, below, pick: (from) => from[below(from.length)] };
}
