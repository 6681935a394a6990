import type { Span } from '../../types.ts';
import type { Prediction } from './batch.ts';
import type { LanguageDetection } from './decode-job.ts';
import type { Facts } from './model.ts';
import { lseOf } from './sampling.ts';
import { SWITCH_LANGUAGE_PROBABILITY, SWITCH_LANGUAGE_SECONDS } from './thresholds.ts';

/** Language and no-speech probabilities from the first step, at which text has almost no probability and may be omitted. */
export function detectLanguage({ special, textLse }: Pick<Prediction, 'special' | 'textLse'>, facts: Facts): LanguageDetection {
  const at = (token: number) => special[token - facts.endOfText]!;
  const languages = new Map<string, number>();
  const all = lseOf([...facts.languages.values()].map(at));
  for (const [code, token] of facts.languages) languages.set(code, Math.exp(at(token) - all));
  return { languages, noSpeech: Math.exp(at(facts.noSpeech) - lseOf([...special, ...textLse])) };
}

/** The language to decode a window in: the most probable one, or the expected one if that is not clear. */
export function languageOf(detection: LanguageDetection, expected: string | null, speech: readonly Span[]): string {
  const { language, probability } = likeliest(detection.languages);
  const seconds = speech.reduce((sum, span) => sum + span.end - span.start, 0);
  return expected === null || (probability >= SWITCH_LANGUAGE_PROBABILITY && seconds >= SWITCH_LANGUAGE_SECONDS) ? language : expected;
}

/** The most probable key of a map with its probability. English with certainty for English-only models. */
export function likeliest(languages: ReadonlyMap<string, number>): { language: string; probability: number } {
  let best = { language: 'en', probability: languages.size === 0 ? 1 : 0 };
  for (const [language, probability] of languages) if (probability > best.probability) best = { language, probability };
  return best;
}
