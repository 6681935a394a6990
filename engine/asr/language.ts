import type { LanguageDetection } from './whisper/decode-job.ts';
import { likeliest } from './whisper/language-detection.ts';

/**
 * The language of a recording from several windows: mean probabilities, weighted by seconds of speech. With mean logarithms a single window
 * of noise could win (6.8 % wrong instead of 0.4 %, docs/decisions/speech-recognition.md).
 */
export function decideLanguage(windows: readonly { languages: LanguageDetection['languages']; seconds: number }[]): {
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

const UNCERTAIN_PROBABILITY = 0.6; // probability of the best language below which others are tried
const CANDIDATE_PROBABILITY = 0.08; // minimum probability of a language to try
const MAX_CANDIDATES = 3;

/** Languages to decode a window in as well if the best one is uncertain; the most probable text wins. */
export function otherLanguages({ languages }: LanguageDetection): string[] {
  const best = likeliest(languages);
  if (best.probability >= UNCERTAIN_PROBABILITY) return [];
  const others = [...languages].filter(([code, probability]) => code !== best.language && probability >= CANDIDATE_PROBABILITY);
  return others
    .sort((a, b) => b[1] - a[1])
    .slice(0, MAX_CANDIDATES)
    .map(([code]) => code);
}
