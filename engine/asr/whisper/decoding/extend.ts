import { beyondSpeech, loopCut, repeats } from '../guards/loops.ts';
import { allowed } from './constraints.ts';
import type { Hypothesis, Step } from './decode-job.ts';
import { corrected, greedy, logitsOf, sample, weigh } from './sampling.ts';
import { noteMissed } from './vocabulary.ts';

/** Adds the next token to a row, the most probable one or a sample. True if the row has ended. */
export function extend(row: Hypothesis, step: Step): boolean {
  const { facts, prediction, numbers, shares } = step;
  const { job } = row;
  const { timestamps, temperature } = job.options;
  const i = numbers.get(row)!;
  const may = allowed(row.tokens, facts, timestamps, row.resumed, row.cuts.at(-1) === row.tokens.length);
  const scores = weigh(prediction, i, may, facts);
  const choice = temperature > 0 ? sample(logitsOf(prediction, i, may, facts), scores, facts, temperature, job.random) : greedy(scores);
  const better = corrected(choice.token, row, facts);
  const token = better ?? choice.token;
  if (job.vocabulary && token < facts.endOfText)
    noteMissed(row, token, job.vocabulary, prediction.text!.subarray(i * facts.endOfText), scores.lse);
  if (better !== null) row.resumed.push(row.tokens.length);
  const width = prediction.align.length / prediction.textMax.length;
  row.score += choice.logProb;
  row.attention.push(shares.keep(prediction.align, i * width, width));
  if (token === facts.endOfText) return true;
  row.tokens.push(token);
  row.logProbs.push(choice.logProb);
  row.feed = token;
  return row.tokens.length >= job.limit || beyondSpeech(row, facts) || (repeats(row.tokens) && !goesOn(row, step));
}

/** Cuts off a loop of a row, which continues after it; false: it does not. */
function goesOn(row: Hypothesis, { batch, rows }: Step): boolean {
  const kept = loopCut(row);
  if (kept === null) return false;
  batch.retreat(rows.indexOf(row), row.tokens.length - kept);
  for (const list of [row.tokens, row.logProbs, row.attention]) list.length = kept;
  row.score = row.logProbs.reduce((sum, value) => sum + value, 0);
  row.feed = row.tokens.at(-1)!;
  row.cuts.push(kept);
  return true;
}
