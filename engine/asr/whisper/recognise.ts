import { levelsAboveRumble } from '../../loudness.ts';
import { SAMPLE_RATE, type Span } from '../../types.ts';
import { uncovered } from '../coverage.ts';
import { partOf, replaced, within } from '../parts.ts';
import type { RecognisedWindow, WindowRequest } from '../recogniser.ts';
import { sounding } from '../silences.ts';
import { toSound } from '../snap-words.ts';
import { speechBetween } from '../speech.ts';
import { type Attempts, decodeWell, Effort, type Recogniser } from './attempts.ts';
import type { DecodeResult } from './decoding/decode-job.ts';
import { isCertain, leftOut, reliable, shorter, spanOf, unfilled, wordlessSpans } from './guards/coverage.ts';
import { withoutEchoes } from './guards/duplicates.ts';
import { apart, drawnOut, merged, thinStretches } from './guards/omissions.ts';
import { loop, loopOfSegments, withoutGuesses, withoutLoops } from './guards/quality.ts';
import { doubtedParts, type Part } from './languages/mixed.ts';
import { type Heard, inParts, inSeveralLanguages } from './languages/several.ts';
import {
  MAX_RETRY_DEPTH,
  MIN_CERTAIN_SECONDS,
  MIN_CERTAIN_SECONDS_AFTER_LOOP,
  MIN_PROGRESS_SECONDS,
  MIN_WORD_GAIN,
  RETRY_PART_SECONDS,
  SHORTEST_PART_SECONDS,
  TARGET_ROW_SHARE,
} from './thresholds.ts';
import { calibrated } from './timing/calibration.ts';
import { toWords } from './timing/words.ts';

const REPORTED_LANGUAGES = 5; // per window

/**
 * The words of one window. Spans of speech that a decoding omits, or covers with far too few words, are decoded again separately, until
 * everything is covered or nothing more is found. Throws what `check` throws when the file is cancelled.
 */
export async function recognise(request: WindowRequest, recogniser: Recogniser, check: () => void): Promise<RecognisedWindow> {
  const effort = new Effort(speechBetween(request.speech, 0, Number.POSITIVE_INFINITY));
  const heard = await hearAll(request, recogniser, check, { effort, depth: 0 });
  const { confidence } = recogniser.model.facts.thresholds;
  const words = heard.words.map((word) => ({ ...word, probability: calibrated(word.probability, confidence) }));
  return { ...heard, words, uncovered: uncovered(words, request.speech) };
}

/** The words of a window or a span of one. The spans of one decoding are decoded in parallel. */
async function hearAll(request: WindowRequest, recogniser: Recogniser, check: () => void, attempts: Attempts): Promise<Heard> {
  const { missing, thin, doubted, levels, longest, ...decoded } = await decodeWindow(request, recogniser, check, attempts);
  const { effort, depth } = attempts;
  if (depth === MAX_RETRY_DEPTH) return decoded;
  const hear = (part: WindowRequest) => hearAll(part, recogniser, check, { effort, depth: depth + 1 });
  const parts = effort.spent ? [] : await inSeveralLanguages(request, decoded, doubted, recogniser, hear, check);
  const heard = parts.length ? inParts(decoded, parts, request.speech) : decoded;
  const inside = parts.map(({ span }) => span);
  const sparse = effort.spent ? [] : apart(apart(thin, missing), inside);
  const stretches = [
    ...sparse.map((span) => ({ span, accurate: true })),
    ...apart(missing, inside).map((span) => ({ span, accurate: request.accurate })),
  ].flatMap(({ span, accurate }) =>
    shorter(span, request.speech, levels, { longest, least: leastPart(effort) }).map((part) => ({ span: part, accurate })),
  );
  const { language } = decoded;
  const again = await Promise.all(stretches.map(({ span, accurate }) => hear({ ...partOf(request, span), expected: language, accurate })));
  for (const [i, { tried, words }] of again.entries()) {
    heard.tried.push('again', ...tried);
    heard.words = replaced(heard.words, stretches[i]!.span, words, MIN_WORD_GAIN);
  }
  return heard;
}

interface Decoded extends Heard {
  /** Spans without words, and those with far too few. */
  missing: Span[];
  thin: Span[];
  /** Its parts, if any may be in another language. */
  doubted: Part[];
  levels: Float32Array;
  /** Seconds of the longest span whose text fits into one row. */
  longest: number;
}

/** The words of one decoding of a window, and what it omits. */
async function decodeWindow(request: WindowRequest, recogniser: Recogniser, check: () => void, attempts: Attempts): Promise<Decoded> {
  const { model, tokenizer } = recogniser;
  const { facts } = model;
  const { result, invented, tried } = await decodeWell(request, recogniser, check, attempts);
  const levels = levelsAboveRumble(request.samples);
  if (result.left) return { ...nothing(result, tried, levels), left: true };
  if (invented) return nothing(result, tried, levels);
  const isSpeech = (from: number, to: number) => {
    const [start, end] = [from, to].map((token) => (token - facts.firstTimestamp) * facts.tick) as [number, number];
    const own = request.speech.map((span) => ({ start: Math.max(span.start, start), end: Math.min(span.end, end) }));
    return (
      speechBetween(request.speech, start, end) >= (result.loops ? MIN_CERTAIN_SECONDS_AFTER_LOOP : MIN_CERTAIN_SECONDS) &&
      isCertain(request.certainty, own)
    );
  };
  const divisible =
    attempts.depth < MAX_RETRY_DEPTH && speechBetween(request.speech, 0, Number.POSITIVE_INFINITY) > leastPart(attempts.effort);
  const guarded = withoutGuesses(divisible ? result : { ...result, loops: 0 }, facts, isSpeech); // what cannot be divided is kept
  const cut = reliable(guarded, facts.alignmentHeads, facts);
  const certain = isCertain(request.certainty, request.speech);
  const stuck = cut.until !== null && (!certain || speechBetween(request.speech, 0, cut.until) < MIN_PROGRESS_SECONDS);
  const kept = stuck ? withoutLoops(guarded, facts) : cut.result; // text with each loop once is better than nothing
  const until = stuck ? null : cut.until;
  const speech = until === null ? request.speech : within(request.speech, { start: 0, end: until });
  const spoken = sounding(speech, levels);
  const written = toWords(kept, result.language, spoken, until ?? request.samples.length / SAMPLE_RATE, facts, tokenizer);
  const words = withoutEchoes(written);
  const timed = kept.tokens.some((token) => token >= facts.firstTimestamp);
  const wordless = wordlessSpans(words, request.speech);
  const skipped = unfilled(leftOut(kept.tokens, request.speech, until, facts), words, request.speech);
  const rest = timed ? merged([...skipped, ...wordless]) : wordless;
  const rate = kept.tokens.length / Math.max(1, speechBetween(speech, 0, Number.POSITIVE_INFINITY)); // tokens per second
  const looped = loop(guarded.tokens) ?? loopOfSegments(guarded, facts);
  const longest = looped ? RETRY_PART_SECONDS : (TARGET_ROW_SHARE * facts.longestText) / rate;
  const detecting = attempts.depth === 0 && request.language === 'auto' && facts.languages.size > 0;
  return {
    ...summary(result),
    words: toSound(words, levels),
    tried,
    missing: certain ? (stuck ? [spanOf(request.speech)] : rest) : [],
    thin: merged([...thinStretches(kept.tokens, speech, facts), ...drawnOut(words, spoken)]),
    doubted: detecting ? doubtedParts(result, request.speech, facts, request.leave !== undefined) : [],
    levels,
    longest,
  };
}

/** Seconds of speech up to which a part is not divided again. */
function leastPart({ spent }: Effort): number {
  return spent ? RETRY_PART_SECONDS : SHORTEST_PART_SECONDS;
}

/** A window without words. */
function nothing(result: DecodeResult, tried: string[], levels: Float32Array): Decoded {
  return { ...summary(result), words: [], tried, missing: [], thin: [], doubted: [], levels, longest: RETRY_PART_SECONDS };
}

function summary(result: DecodeResult): Omit<Heard, 'words' | 'tried'> {
  const { language, noSpeech, meanLogProb } = result;
  const languages = [...result.languages].sort((a, b) => b[1] - a[1]).slice(0, REPORTED_LANGUAGES);
  return { language, languages, noSpeech, meanLogProb };
}
