import type { Span } from '../../types.ts';
import type { LanguageSpan } from '../recogniser.ts';
import { speechBetween } from '../speech.ts';
import type { DecodeResult } from './decode-job.ts';
import type { Facts } from './model.ts';
import { MIN_PART_SECONDS, SECOND_LANGUAGE_PROBABILITY } from './thresholds.ts';

/* Windows in which the language changes. The model writes a whole window in one language and renders the rest of it as mock words. */

/** A part of a window that may be in another language than the window's text. */
export interface DoubtedPart {
  span: Span;
  /** Mean log-probability of the window's text there; -Infinity: none. */
  meanLogProb: number;
}

/**
 * The parts of a window's speech, cut at pauses, whose text is improbable; all of them if the window's language is in doubt as well, or its
 * text repeats itself. None if all text is improbable in a language that is certain: the model knows that language little.
 * @param apart parts without a segment of their own are in doubt as well, since digits and names are probable in any language; costs an
 * encoder run for each, which only another model is worth
 */
export function doubtedParts(
  { tokens, logProbs, languages, loops = 0 }: Pick<DecodeResult, 'tokens' | 'logProbs' | 'languages' | 'loops'>,
  speech: readonly Span[],
  facts: Pick<Facts, 'firstTimestamp' | 'tick' | 'thresholds'>,
  apart = false,
): DoubtedPart[] {
  const parts = partsOf(speech).map((span) => ({ span, meanLogProb: meanWithin(span, tokens, logProbs, facts, apart) }));
  if (parts.length < 2) return [];
  const [, second = 0] = [...languages.values()].sort((a, b) => b - a);
  const improbable = parts.filter(({ meanLogProb }) => meanLogProb < facts.thresholds.foreignLogProb);
  if (loops > 0 || (improbable.length && second >= SECOND_LANGUAGE_PROBABILITY)) return parts;
  return improbable.length < parts.length ? improbable : [];
}

/** Spans of at least `MIN_PART_SECONDS` seconds: a shorter one joins the neighbour behind the shorter pause. */
function partsOf(speech: readonly Span[]): Span[] {
  const parts = speech.map(({ start, end }) => ({ start, end }));
  const pause = (i: number) => (i > 0 && i < parts.length ? parts[i]!.start - parts[i - 1]!.end : Number.POSITIVE_INFINITY);
  for (;;) {
    const i = parts.findIndex(({ start, end }) => end - start < MIN_PART_SECONDS);
    if (i < 0 || parts.length < 2) return parts;
    const right = pause(i) < pause(i + 1) ? i : i + 1;
    parts.splice(right - 1, 2, { start: parts[right - 1]!.start, end: parts[right]!.end });
  }
}

/**
 * Mean log-probability of the text tokens over a span, by its share of each segment. -Infinity if most of the span is in no segment; with
 * `apart`, only segments whose middle it holds count.
 */
function meanWithin(
  span: Span,
  tokens: readonly number[],
  logProbs: readonly number[],
  { firstTimestamp, tick }: Pick<Facts, 'firstTimestamp' | 'tick'>,
  apart: boolean,
): number {
  let [sum, count, covered, start, from] = [0, 0, 0, 0, 0];
  for (const [i, token] of [...tokens, Number.POSITIVE_INFINITY].entries()) {
    if (token < firstTimestamp) continue;
    const end = i < tokens.length ? (token - firstTimestamp) * tick : Math.max(start, span.end);
    const common = Math.min(end, span.end) - Math.max(start, span.start);
    const middle = (start + end) / 2;
    const own = !apart || (middle >= span.start && middle < span.end);
    if (i > from && common > 0 && own) {
      const share = common / (end - start);
      for (let k = from; k < i; k++) sum += share * logProbs[k]!;
      count += share * (i - from);
      covered += common;
    }
    [start, from] = [end, i + 1];
  }
  return covered > (span.end - span.start) / 2 ? sum / count : Number.NEGATIVE_INFINITY;
}

/** The languages of a window by their share of its speech, most first. `rest`: that of what lies in no part. */
export function sharesOf(parts: readonly LanguageSpan[], rest: string, speech: readonly Span[]): [code: string, share: number][] {
  const all = speechBetween(speech, 0, Number.POSITIVE_INFINITY);
  const seconds = new Map([[rest, all]]);
  for (const { language, span } of parts) {
    const own = speechBetween(speech, span.start, span.end);
    seconds.set(rest, seconds.get(rest)! - own);
    seconds.set(language, (seconds.get(language) ?? 0) + own);
  }
  return [...seconds].map(([code, part]): [string, number] => [code, part / all]).sort((a, b) => b[1] - a[1]);
}
