import type { Measured } from '../../models/self-check.ts';

/** A measurement in which each of ten clips of 20 words has as many errors as given. */
export function measured(errors: number): Measured {
  const clips = Array.from({ length: 10 }, () => ({ words: 20, errors }));
  const rates = [{ language: 'en', clips: 10, words: 200, errors: 10 * errors }];
  return {
    at: new Date(0).toISOString(),
    machine: 'a test',
    rates,
    clips,
    invented: 0,
    coverage: 0.9,
    rtfx: 20,
    threadBytes: 1e8,
    confidence: 0.9,
  };
}
