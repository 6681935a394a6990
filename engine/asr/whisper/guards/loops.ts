import type { Hypothesis } from '../decoding/decode-job.ts';
import type { Facts } from '../model.ts';
import { LOOP_CHECK_INTERVAL, LOOP_CHECK_TOKENS, MAX_LOOP_CUTS } from '../thresholds.ts';
import { loop } from './quality.ts';

/** Whether a row has started to repeat itself. Checked only every few tokens: most calls return false immediately. */
export function repeats(tokens: readonly number[]): boolean {
  return tokens.length % LOOP_CHECK_INTERVAL === 0 && loop(tokens.slice(-LOOP_CHECK_TOKENS)) !== null;
}

/**
 * Number of tokens to keep of a row that repeats itself: the repeated text once; then the segment is closed and decoding continues. Null:
 * not requested, or done often enough.
 */
export function loopCut({ job, tokens, cuts }: Pick<Hypothesis, 'job' | 'tokens' | 'cuts'>): number | null {
  if (!job.options.pastLoops || cuts.length >= MAX_LOOP_CUTS) return null;
  const recent = tokens.slice(-LOOP_CHECK_TOKENS);
  const found = loop(recent);
  return found && tokens.length - recent.length + found.start + found.length;
}

/** Whether a row from which a loop was cut off has closed a segment at the end of the speech: such a row seldom finds an end by itself. */
export function beyondSpeech(
  { job, tokens, cuts }: Pick<Hypothesis, 'job' | 'tokens' | 'cuts'>,
  facts: Pick<Facts, 'firstTimestamp' | 'tick'>,
): boolean {
  const { firstTimestamp, tick } = facts;
  if (!cuts.length || tokens.at(-1)! < firstTimestamp) return false;
  return (tokens.at(-1)! - firstTimestamp) * tick >= (job.speech.at(-1)?.end ?? 0);
}
