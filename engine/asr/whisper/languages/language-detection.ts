import type { Prediction } from '../decoding/batch.ts';
import type { LanguageDetection } from '../decoding/decode-job.ts';
import { lseOf } from '../decoding/sampling.ts';
import type { Facts } from '../model.ts';

/** Language and no-speech probabilities from the first step, at which text has almost no probability and may be omitted. */
export function detectLanguage({ special, textLse }: Pick<Prediction, 'special' | 'textLse'>, facts: Facts): LanguageDetection {
  const at = (token: number) => special[token - facts.endOfText]!;
  const languages = new Map<string, number>();
  const all = lseOf([...facts.languages.values()].map(at));
  for (const [code, token] of facts.languages) languages.set(code, Math.exp(at(token) - all));
  return { languages, noSpeech: Math.exp(at(facts.noSpeech) - lseOf([...special, ...textLse])) };
}
