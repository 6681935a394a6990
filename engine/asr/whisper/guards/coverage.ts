import { CERTAINTY_RATE, type Span } from '../../../types.ts';
import { gaps } from '../../coverage.ts';
import { parts } from '../../parts.ts';
import type { Spoken } from '../../recogniser.ts';
import { speechBetween } from '../../speech.ts';
import type { DecodeResult } from '../decoding/decode-job.ts';
import type { Facts } from '../model.ts';
import {
  ATTENDING_TOKENS,
  CERTAIN_SPEECH_PROBABILITY,
  LONGEST_WORD_SECONDS,
  MIN_CERTAIN_SHARE,
  MIN_MISSING_SECONDS,
  RETRY_PART_SECONDS,
  SAME_SPAN_SHARE,
} from '../thresholds.ts';
import { WEIGHTS } from '../timing/attention-store.ts';
import { loop, loopOfSegments } from './quality.ts';

/**
 * Whether detection is so certain of this speech that no text is dropped for low probability: in languages the model knows little all text
 * is improbable.
 */
export function isCertain(certainty: Float32Array | undefined, speech: readonly Span[]): boolean {
  return certainty !== undefined && certainShare(certainty, speech) >= MIN_CERTAIN_SHARE;
}

/** Share of certain steps of 0.1 s in the speech of a window, 0 to 1. */
export function certainShare(certainty: Float32Array, speech: readonly Span[]): number {
  let [certain, count] = [0, 0];
  for (const { start, end } of speech) {
    const last = Math.min(certainty.length, Math.ceil(end * CERTAINTY_RATE));
    for (let i = Math.max(0, Math.floor(start * CERTAINTY_RATE)); i < last; i++, count++) {
      if (certainty[i]! >= CERTAIN_SPEECH_PROBABILITY) certain++;
    }
  }
  return count && certain / count;
}

/**
 * The reliable part of a decoding and the time in the window up to which it covers the audio; null: to the end. A decoding cut off by its
 * limit or a loop counts up to its last closed segment or, without one, up to where its latest tokens attend; without text it covers nothing.
 */
export function reliable<T extends DecodeResult>(result: T, heads: number, facts: Facts): { result: T; until: number | null } {
  const { tokens, attention } = result;
  const found = loopOfSegments(result, facts) ?? loop(tokens);
  if (!found && attention.length > tokens.length) return { result, until: null };
  const end = found?.start ?? tokens.length;
  let count = end;
  while (count > 1 && !(tokens[count - 1]! >= facts.firstTimestamp && tokens[count - 2]! < facts.firstTimestamp)) count--;
  const closed = count > 1;
  if (!closed) count = end;
  const text = tokens.slice(0, end).some((token) => token < facts.firstTimestamp);
  const frames = text ? lookedAt(attention.slice(0, end), heads) : 0;
  const until = closed ? (tokens[count - 1]! - facts.firstTimestamp) * facts.tick : frames * facts.tick;
  const kept = { tokens: tokens.slice(0, count), logProbs: result.logProbs.slice(0, count), attention: attention.slice(0, count + 1) };
  return { result: { ...result, ...kept, resumed: result.resumed.filter((at) => at < count) }, until };
}

/** The frame that the latest tokens attend to most (median). */
function lookedAt(attention: readonly Uint8Array[], heads: number): number {
  const frames = attention.slice(-ATTENDING_TOKENS).map((row) => {
    const each = row.length / heads;
    let [best, most] = [0, -1];
    for (let frame = 0; frame < each; frame++) {
      let sum = 0;
      for (let head = 0; head < heads; head++) sum += WEIGHTS[row[head * each + frame]!]!;
      if (sum > most) [best, most] = [frame, sum];
    }
    return best;
  });
  return frames.sort((a, b) => a - b)[frames.length >> 1] ?? 0;
}

/** Speech that a decoding leaves out between its segments and after the last one, where worth another decoding. Seconds of the window. */
export function leftOut(
  tokens: readonly number[],
  speech: readonly Span[],
  until: number | null,
  { firstTimestamp, tick }: Pick<Facts, 'firstTimestamp' | 'tick'>,
): Span[] {
  const end = speech.at(-1)?.end ?? 0;
  const found: Span[] = [];
  let closed: number | null = null; // end of the last segment, seconds
  let open = false;
  let said = false; // anything in the open segment
  for (const token of tokens) {
    if (token < firstTimestamp) {
      said = true;
      continue;
    }
    const seconds = (token - firstTimestamp) * tick;
    if (!open && closed !== null) found.push({ start: closed, end: seconds });
    if (open) closed = seconds;
    open = !open;
    said = false;
  }
  const rest = until ?? (open && said ? end : closed);
  if (rest !== null) found.push({ start: rest, end });
  return found.filter((span) => speechBetween(speech, span.start, span.end) >= MIN_MISSING_SECONDS);
}

/**
 * Those of the left-out spans with enough speech that no word within them covers. A segment that begins with too late a timestamp seems to
 * leave out speech although its words lie there by their alignment: decoding that again changed none of 14 texts on the tuning set. A word
 * that reaches out of a span, or a long one, may have been stretched over what is missing, and does not count.
 */
export function unfilled(leftOut: readonly Span[], words: readonly Pick<Spoken, 'start' | 'end'>[], speech: readonly Span[]): Span[] {
  return leftOut.filter(({ start, end }) => {
    const inside = words.filter((word) => word.start >= start && word.end <= end && word.end - word.start < LONGEST_WORD_SECONDS);
    const covered = inside.reduce((sum, word) => sum + speechBetween(speech, word.start, word.end), 0);
    return speechBetween(speech, start, end) - covered >= MIN_MISSING_SECONDS;
  });
}

/** The same as leftOut() for a decoding without timestamps, from the times of its words. */
export function wordlessSpans(words: readonly Pick<Spoken, 'start' | 'end'>[], speech: readonly Span[]): Span[] {
  const end = speech.at(-1)?.end ?? 0;
  const spans = gaps(words).map((gap) => ({ start: gap.start, end: Math.min(gap.end, end) }));
  return spans.filter((span) => speechBetween(speech, span.start, span.end) >= MIN_MISSING_SECONDS);
}

/**
 * The parts of a span to decode again: the span itself, in parts of at most `longest` seconds, or in short ones if it is nearly everything
 * that was decoded; none if that has at most `least` seconds of speech.
 */
export function shorter(span: Span, speech: readonly Span[], levels: Float32Array, { longest, least }: PartLengths): Span[] {
  const all = speechBetween(speech, 0, Number.POSITIVE_INFINITY);
  if (speechBetween(speech, span.start, span.end) < SAME_SPAN_SHARE * all)
    return parts(span, levels, Math.max(RETRY_PART_SECONDS, longest));
  if (all <= least) return [];
  const twoThirds = ((span.end - span.start) * 2) / 3; // parts() cuts in the middle third
  return parts(span, levels, Math.min(RETRY_PART_SECONDS, twoThirds));
}

/** Seconds of parts of a window that are decoded again. */
export interface PartLengths {
  longest: number;
  least: number;
}

/** From the start of the first span to the end of the last. */
export function spanOf(spans: readonly Span[]): Span {
  return { start: spans[0]?.start ?? 0, end: spans.at(-1)?.end ?? 0 };
}
