import type { Span } from '../types.ts';
import { type Facts, NEVER, STEPS } from './model.ts';

/** Speech that may stay uncovered before end-of-text is refused, seconds. */
const TAIL = 0.5;

/** The bias [vocabulary] of every step: what a transcript never holds. */
export function standingBias(facts: Facts): Float32Array {
  const bias = new Float32Array(facts.vocabulary);
  for (const id of facts.suppressed) bias[id] = NEVER;
  return bias.fill(NEVER, facts.startOfTranscript, facts.firstTimestamp);
}

/**
 * Adds to `bias` [vocabulary] what may not follow the tokens of a row: timestamps come in pairs, never run backwards, and the first lies
 * within the first second. Rules of Whisper's own decoding (openai/whisper, decoding.py).
 */
export function forbid(bias: Float32Array, tokens: readonly number[], facts: Facts, timestamps: boolean): void {
  const { firstTimestamp: first, endOfText } = facts;
  if (tokens.length === 0) for (const id of facts.suppressedAtStart) bias[id] = NEVER;
  if (!timestamps) {
    bias.fill(NEVER, first);
    return;
  }
  if (tokens.length === 0) {
    bias.fill(NEVER, 0, first);
    bias.fill(NEVER, first + facts.latestStart + 1);
    return;
  }
  const closed = tokens.at(-1)! >= first;
  const before = tokens.length < 2 || tokens.at(-2)! >= first;
  if (closed && before) bias.fill(NEVER, first);
  else if (closed) bias.fill(NEVER, 0, endOfText);
  const last = lastTimestamp(tokens, first);
  if (last !== null) bias.fill(NEVER, first, closed && !before ? last : last + 1);
}

function lastTimestamp(tokens: readonly number[], first: number): number | null {
  for (let i = tokens.length - 1; i >= 0; i--) if (tokens[i]! >= first) return tokens[i]!;
  return null;
}

/**
 * The timestamp token at which speech goes on that `tokens` have not covered, or null when less than `tail` seconds are left, or a segment
 * is still open. `speech`: spans in seconds of the window.
 */
export function speechLeft(
  tokens: readonly number[],
  speech: readonly Span[],
  { firstTimestamp: first, tick }: Pick<Facts, 'firstTimestamp' | 'tick'>,
  tail = TAIL,
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
  return first + Math.min(STEPS, Math.max(Math.round(done / tick), Math.round((rest[0]!.start - 0.1) / tick)));
}

/** Seconds of speech between two times of the window. */
export function speechBetween(speech: readonly Span[], start: number, end: number): number {
  return speech.reduce((sum, span) => sum + Math.max(0, Math.min(span.end, end) - Math.max(span.start, start)), 0);
}
