import { seeded as numbers } from '../../bench/random.ts';

/** Seeded choices for tests that try many things: a failure names its seed, and SEED=n repeats it. */
export interface Seeded {
  seed: number;
  /** 0 to 1. */
  random(): number;
  /** A whole number below `end`. */
  below(end: number): number;
  pick<T>(from: readonly T[]): T | undefined;
}

/** The seed of this run: always the same one, so that a run tells of the change and not of luck; or SEED. */
export const SEED = Number(process.env.SEED ?? 1);

export function seeded(seed = SEED): Seeded {
  const { next: random } = numbers(seed);
  const below = (end: number) => Math.floor(random() * end);
  return { seed, random, below, pick: (from) => from[below(from.length)] };
}
