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

/** mulberry32: small, and good enough to choose steps. */
export function seeded(seed = SEED): Seeded {
  let state = seed;
  const random = () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
  const below = (end: number) => Math.floor(random() * end);
  return { seed, random, below, pick: (from) => from[below(from.length)] };
}
