import type { Span } from '../types.ts';

/** Probability of each language, by code; empty for English-only models. */
export type Languages = ReadonlyMap<string, number>;

/**
 * The language of a recording from several windows: mean probabilities, weighted by seconds of speech. With mean logarithms a single window
 * of noise could win (6.8 % wrong instead of 0.4 %, docs/decisions/speech-recognition.md).
 */
export function decideLanguage(windows: readonly { languages: Languages; seconds: number }[]): {
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
export function otherLanguages({ languages }: { languages: Languages }): string[] {
  const best = likeliest(languages);
  if (best.probability >= UNCERTAIN_PROBABILITY) return [];
  const others = [...languages].filter(([code, probability]) => code !== best.language && probability >= CANDIDATE_PROBABILITY);
  return others
    .sort((a, b) => b[1] - a[1])
    .slice(0, MAX_CANDIDATES)
    .map(([code]) => code);
}

const SWITCH_LANGUAGE_PROBABILITY = 0.9; // from here on a window is decoded in its own language
const SWITCH_LANGUAGE_SECONDS = 5; // if it has this much speech

/** The language to decode a window in: the most probable one, or the expected one if that is not clear. */
export function languageOf(languages: Languages, expected: string | null, speech: readonly Span[]): string {
  const { language, probability } = likeliest(languages);
  const seconds = speech.reduce((sum, span) => sum + span.end - span.start, 0);
  return expected === null || (probability >= SWITCH_LANGUAGE_PROBABILITY && seconds >= SWITCH_LANGUAGE_SECONDS) ? language : expected;
}

/** The most probable key of a map with its probability. English with certainty for English-only models. */
export function likeliest(languages: Languages): { language: string; probability: number } {
  let best = { language: 'en', probability: languages.size === 0 ? 1 : 0 };
  for (const [language, probability] of languages) if (probability > best.probability) best = { language, probability };
  return best;
}
