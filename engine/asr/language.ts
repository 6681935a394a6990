import { type LanguageDetection, likeliest } from './whisper/decode-job.ts';

/**
 * The language of a recording from several windows: the probabilities averaged with the seconds of speech as weights. Averaged logarithms
 * would let one window of noise win (6.8 % wrong instead of 0.4 %, docs/decisions/speech-recognition.md).
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

const UNCERTAIN = 0.6; // probability of the best language below which others are tried
const POSSIBLE = 0.08; // probability of a language that is worth trying
const MOST = 3;

/** Languages worth decoding a window in as well, since the best one is not certain: what is believed most was spoken. */
export function otherLanguages({ languages }: LanguageDetection): string[] {
  const best = likeliest(languages);
  if (best.probability >= UNCERTAIN) return [];
  const others = [...languages].filter(([code, probability]) => code !== best.language && probability >= POSSIBLE);
  return others
    .sort((a, b) => b[1] - a[1])
    .slice(0, MOST)
    .map(([code]) => code);
}
