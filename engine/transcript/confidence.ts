import type { Word } from '../types.ts';

/** How likely a word is right, 0 to 1: the mean probability that the recogniser gave its tokens. */
export function confidenceOf(probability: number): number {
  return probability > 0 ? Math.min(1, probability) : 0;
}

/** How likely a word of these is right on average; null: there is none. */
export function confidenceOfAll(words: readonly Word[]): number | null {
  if (!words.length) return null;
  return words.reduce((sum, { probability }) => sum + confidenceOf(probability), 0) / words.length;
}
