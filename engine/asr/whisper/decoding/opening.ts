import { languageOf } from '../../language.ts';
import { detectLanguage } from '../languages/language-detection.ts';
import type { Facts } from '../model.ts';
import type { Prediction } from './batch.ts';
import { type DecodeJob, type DecodeRequest, type Hypothesis, instructions } from './decode-job.ts';
import { generator } from './sampling.ts';

const INSTRUCTIONS = 5; // tokens kept free for <|startoftranscript|>, the instructions and end-of-text

/** Tokens before <|startoftranscript|>: the prompt, if any. */
export function openingOf(prompt: readonly number[], facts: Pick<Facts, 'startOfPrevious'>): number[] {
  return prompt.length ? [facts.startOfPrevious, ...prompt] : [];
}

/** The first row of a window, in the language that the prediction behind <|startoftranscript|> says unless one is given. */
export function rowOf(request: DecodeRequest, prediction: Prediction, facts: Facts): Hypothesis {
  const { file, options, speech, vocabulary } = request;
  const detection = detectLanguage(prediction, facts);
  const language = request.language ?? languageOf(detection.languages, request.expected, speech);
  const limit = facts.longestText - openingOf(request.prompt, facts).length - INSTRUCTIONS;
  const job: DecodeJob = { file, options, speech, vocabulary, detection, language, limit, finished: [], random: generator(1) };
  const [feed, ...ahead] = instructions(facts, language, options.timestamps);
  return { job, feed: feed ?? 0, ahead, tokens: [], logProbs: [], attention: [], score: 0, resumed: [], cuts: [] };
}
