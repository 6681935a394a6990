import type { Word } from '../types.ts';

/** Confidence of a word, 0 to 1. */
export function confidenceOf(probability: number): number {
  return probability > 0 ? Math.min(1, probability) : 0;
}

/** Mean confidence of words; null: there are none. */
export function confidenceOfAll(words: readonly Word[]): number | null {
  if (!words.length) return null;
  return words.reduce((sum, { probability }) => sum + confidenceOf(probability), 0) / words.length;
}
