import type { Hypothesis } from './decode-job.ts';
import { loop } from './quality.ts';

const LOOKS = 8; // tokens between checks of a row for loops, in its latest
const RECENT = 64; // tokens
const MOST = 16; // maximum loops cut off per row

/** Whether a row has started to repeat itself. Checked only every few tokens: most calls return false immediately. */
export function repeats(tokens: readonly number[]): boolean {
  return tokens.length % LOOKS === 0 && loop(tokens.slice(-RECENT)) !== null;
}

/**
 * Number of tokens to keep of a row that repeats itself: the repeated text once; then the segment is closed and decoding continues. Null:
 * not requested, or done often enough.
 */
export function loopCut({ job, tokens, cuts }: Pick<Hypothesis, 'job' | 'tokens' | 'cuts'>): number | null {
  if (!job.options.pastLoops || cuts.length >= MOST) return null;
  const recent = tokens.slice(-RECENT);
  const found = loop(recent);
  return found && tokens.length - recent.length + found.start + found.length;
}
