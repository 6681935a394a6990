import type { Span } from '../../../types.ts';
import { type Facts, WINDOW_STEPS } from '../model.ts';
import { LOOP_SECONDS_PER_TOKEN, MAX_UNCOVERED_TAIL_SECONDS, MIN_LOOP_SEGMENT_SECONDS } from '../thresholds.ts';

/** Tokens that may come next in a row, besides the suppressed ones. */
export interface Allowed {
  text: boolean;
  /** Forbidden text tokens; only where text is allowed. */
  except: readonly number[];
  endOfText: boolean;
  /** Timestamp tokens [from, to); none if `to` is not above `from`. */
  from: number;
  to: number;
}

/**
 * Tokens that may follow those of a row: timestamps come in pairs, never decrease, and the first lies within the first second. The rules of
 * Whisper's own decoding (openai/whisper, decoding.py). `resumed`: indices of overridden tokens; the row may not end right after one.
 * `cut`: a loop was cut off here, and the segment must be closed.
 */
export function allowed(
  tokens: readonly number[],
  facts: Facts,
  timestamps: boolean,
  resumed: readonly number[] = [],
  cut = false,
): Allowed {
  const { firstTimestamp: first, endOfText: end, vocabulary, suppressedAtStart } = facts;
  const start = tokens.length === 0;
  if (start && timestamps) return { text: false, except: [], endOfText: false, from: first, to: first + facts.latestStart + 1 };
  const endOfText = start ? !suppressedAtStart.includes(end) : resumed.at(-1) !== tokens.length - 1;
  if (!timestamps) return { text: true, except: start ? suppressedAtStart.filter((id) => id < end) : [], endOfText, from: 0, to: 0 };
  const closed = tokens.at(-1)! >= first;
  const before = tokens.length < 2 || tokens.at(-2)! >= first;
  const last = lastTimestamp(tokens, first);
  if (cut) return { text: false, except: [], endOfText: false, ...closing(tokens, last ?? first, facts) };
  const from = last === null ? first : closed && !before ? last : last + 1;
  return { text: !closed || before, except: [], endOfText, from, to: closed && before ? 0 : vocabulary };
}

/** Timestamps that may close a segment opened by `start`. */
function closing(tokens: readonly number[], start: number, { tick, vocabulary }: Facts): { from: number; to: number } {
  const said = tokens.length - tokens.lastIndexOf(start) - 1;
  const [from, to] = [MIN_LOOP_SEGMENT_SECONDS, MIN_LOOP_SEGMENT_SECONDS + 0.2 + LOOP_SECONDS_PER_TOKEN * said].map(
    (seconds) => start + Math.round(seconds / tick),
  );
  return { from: Math.min(vocabulary - 1, from!), to: Math.min(vocabulary, to!) };
}

function lastTimestamp(tokens: readonly number[], first: number): number | null {
  for (let i = tokens.length - 1; i >= 0; i--) if (tokens[i]! >= first) return tokens[i]!;
  return null;
}

/**
 * The timestamp token at which speech not covered by `tokens` continues, or null if less than `tail` seconds are left or a segment is still
 * open. `speech`: spans in seconds of the window.
 */
export function speechLeft(
  tokens: readonly number[],
  speech: readonly Span[],
  { firstTimestamp: first, tick }: Pick<Facts, 'firstTimestamp' | 'tick'>,
  tail = MAX_UNCOVERED_TAIL_SECONDS,
): number | null {
  const last = tokens.at(-1);
  if (last !== undefined && last < first) return null;
  const done = last === undefined ? 0 : (last - first) * tick;
  const rest = speech
    .filter((span) => span.end > done + 0.2)
    .map((span) => ({ start: Math.max(span.start, done), end: span.end }))
    .filter((span) => span.end - span.start > 0.15);
  const seconds = rest.reduce((sum, span) => sum + span.end - span.start, 0);
  if (seconds < tail) return null;
  return first + Math.min(WINDOW_STEPS, Math.max(Math.round(done / tick), Math.round((rest[0]!.start - 0.1) / tick)));
}
