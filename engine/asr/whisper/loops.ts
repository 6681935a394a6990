import type { Hypothesis } from './decode-job.ts';
import { loop } from './quality.ts';

const LOOKS = 8; // tokens after which a row is looked at for a loop, in its latest …
const RECENT = 64; // tokens
const MOST = 16; // loops that are cut off a row

/** Whether a row has come to repeat itself. It is looked at now and then: for most calls the answer is no. */
export function repeats(tokens: readonly number[]): boolean {
  return tokens.length % LOOKS === 0 && loop(tokens.slice(-RECENT)) !== null;
}

/**
 * How many tokens stay of a row that repeats itself: what it repeats is said once, then the segment is closed and the row goes on behind it.
 * Null: it is not wanted, or has been done often enough.
 */
export function loopCut({ job, tokens, cuts }: Pick<Hypothesis, 'job' | 'tokens' | 'cuts'>): number | null {
  if (!job.options.pastLoops || cuts.length >= MOST) return null;
  const recent = tokens.slice(-RECENT);
  const found = loop(recent);
  return found && tokens.length - recent.length + found.start + found.length;
}
