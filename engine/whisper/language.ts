import type { Listening } from './row.ts';
import { likeliest } from './row.ts';

/**
 * The language of a recording from several windows: the probabilities averaged with the seconds of speech as weights. Averaged logarithms
 * would let one window of noise win (6.8 % wrong instead of 0.4 %, engine.md).
 */
export function decideLanguage(windows: readonly { languages: Listening['languages']; seconds: number }[]): {
  language: string;
  probability: number;
} {
  const total = windows.reduce((sum, { seconds }) => sum + seconds, 0);
  const mean = new Map<string, number>();
  for (const { languages, seconds } of windows) {
    for (const [code, probability] of languages) mean.set(code, (mean.get(code) ?? 0) + (probability * seconds) / total);
  }
  return likeliest(mean);
}
