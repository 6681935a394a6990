import type { Span } from '../../../types.ts';
import { type Languages, likeliest } from '../../language.ts';
import type { LanguageSpan } from '../../recogniser.ts';
import { speechBetween } from '../../speech.ts';
import type { DecodeResult } from '../decoding/decode-job.ts';
import { loop } from '../guards/quality.ts';
import type { Facts } from '../model.ts';
import { CLEAR_LANGUAGE_PROBABILITY, MIN_PART_SECONDS, OTHER_LANGUAGE_PROBABILITY, SECOND_LANGUAGE_PROBABILITY } from '../thresholds.ts';

/* Windows in which the language changes. The model writes a whole window in one language and renders the rest of it as mock words. */

/** A part of a window's speech, which may be in another language than the window's text. */
export interface Part {
  span: Span;
  /** Mean log-probability of the window's text there; -Infinity: none. */
  meanLogProb: number;
  /** That text is improbable, or repeats itself. */
  improbable: boolean;
  /** Its language is in doubt. */
  doubted: boolean;
}

/**
 * The parts of a window's speech, cut at pauses, if the language of any is in doubt; else none. All are in doubt if the window's language is
 * uncertain or its text repeats itself, else those whose text is improbable.
 * @param apart parts without a segment of their own are in doubt as well, since digits and names are probable in any language; costs an
 * encoder run for each, which only another model is worth
 */
export function doubtedParts(
  { tokens, logProbs, languages, loops = 0 }: Pick<DecodeResult, 'tokens' | 'logProbs' | 'languages' | 'loops'>,
  speech: readonly Span[],
  facts: Pick<Facts, 'firstTimestamp' | 'tick' | 'thresholds'>,
  apart = false,
): Part[] {
  const [, second = 0] = [...languages.values()].sort((a, b) => b - a);
  const uncertain = second >= SECOND_LANGUAGE_PROBABILITY;
  const repetitive = loops > 0 || loop(tokens) !== null;
  const parts = partsOf(speech).map((span) => {
    const meanLogProb = meanWithin(span, tokens, logProbs, facts, apart);
    const improbable = repetitive || meanLogProb < facts.thresholds.foreignLogProb;
    return { span, meanLogProb, improbable, doubted: improbable || uncertain };
  });
  return parts.length > 1 && parts.some(({ doubted }) => doubted) ? parts : [];
}

/** A part with the languages of its own sound. */
export interface SoundedPart extends Part {
  languages: Languages;
}

/** Consecutive parts in one language. */
export interface Run extends Omit<Part, 'doubted'> {
  /** Null: not clear. */
  language: string | null;
  /** Of the language in the part where it is most probable. */
  probability: number;
}

/** True if the sound of any part is likely in another language than the window's; where its text is improbable, however unlikely. */
export function changes(parts: readonly Pick<SoundedPart, 'languages' | 'improbable'>[], language: string): boolean {
  return parts.some(({ languages, improbable }) => {
    const found = likeliest(languages);
    return found.language !== language && (improbable || found.probability >= OTHER_LANGUAGE_PROBABILITY);
  });
}

/**
 * The parts of a window joined into runs, each in the window's language or in one that a part is clearly in. A part that may be in several of
 * these, or in none, is a run of its own.
 */
export function runsOf(parts: readonly SoundedPart[], language: string): Run[] {
  const found = parts.map(({ languages }) => likeliest(languages)).filter(({ probability }) => probability >= CLEAR_LANGUAGE_PROBABILITY);
  const candidates = [...new Set([language, ...found.map((one) => one.language)])];
  const runs: Run[] = [];
  for (const { languages, doubted: _, ...part } of parts) {
    const own = new Map(candidates.map((code) => [code, languages.get(code) ?? 0]));
    const best = likeliest(own);
    const sum = [...own.values()].reduce((sum, probability) => sum + probability, 0);
    const clear = best.probability >= Math.max(SECOND_LANGUAGE_PROBABILITY, CLEAR_LANGUAGE_PROBABILITY * sum);
    const run = clear ? { ...part, ...best } : { ...part, language: null, probability: 0 };
    const last = runs.at(-1);
    if (last && clear && last.language === run.language) runs[runs.length - 1] = joined(last, run);
    else runs.push(run);
  }
  return runs;
}

/** Two runs in the same language as one; without text if the longer one is. */
function joined(a: Run, b: Run): Run {
  const [first, second] = [a, b].map(({ span }) => span.end - span.start) as [number, number];
  const mean = (a.meanLogProb * first + b.meanLogProb * second) / (first + second);
  const longer = first > second ? a : b;
  return {
    span: { start: a.span.start, end: b.span.end },
    meanLogProb: Number.isFinite(mean) ? mean : longer.meanLogProb,
    improbable: a.improbable || b.improbable,
    language: a.language,
    probability: Math.max(a.probability, b.probability),
  };
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
