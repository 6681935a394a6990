import type { Span } from '../../../types.ts';
import { speechBetween } from '../../speech.ts';
import type { Facts } from '../model.ts';
import {
  SPARSE_MIN_SECONDS,
  SPARSE_TOKENS_PER_SECOND,
  STRETCHED_LETTERS_PER_SECOND,
  STRETCHED_MAX_SPAN_SECONDS,
  STRETCHED_MIN_SECONDS,
} from '../thresholds.ts';
import type { Spoken } from '../timing/words.ts';

const LETTERS_PER_DIGIT = 2; // 0.5 s: in tuning and test clips "1813" takes 1.4 s; a number that is longer only costs a second decoding
const ENDS_SENTENCE = /[.?!…。？！।؟።]\P{L}*$/u;
const SYLLABLES = /[\p{sc=Han}\p{sc=Hangul}\p{sc=Hiragana}\p{sc=Katakana}]/gu; // a character takes about three letters,
const WITHOUT_VOWELS = /[\p{sc=Arabic}\p{sc=Hebrew}\p{sc=Ethiopic}]/gu; // and about two where vowels are not written or in the consonant

/**
 * Spans with far too little text for their speech: the model skips a sentence inside a segment, and neither its probabilities nor its
 * timestamps show it. Seconds of the window.
 */
export function thinStretches(
  tokens: readonly number[],
  speech: readonly Span[],
  { firstTimestamp, tick }: Pick<Facts, 'firstTimestamp' | 'tick'>,
): Span[] {
  const found: Span[] = [];
  let start: number | null = null;
  let said = 0;
  for (const token of tokens) {
    if (token < firstTimestamp) {
      said++;
      continue;
    }
    const end = (token - firstTimestamp) * tick;
    const seconds = start === null ? 0 : speechBetween(speech, start, end);
    if (start !== null && said > 0 && seconds >= SPARSE_MIN_SECONDS && said < SPARSE_TOKENS_PER_SECOND * seconds)
      found.push({ start, end });
    start = end;
    said = 0;
  }
  return found;
}

/**
 * Words stretched over more speech than they can fill: alignment assigns all speech to words, so the neighbours of a skipped sentence get
 * its time. With the speech around them, before or after a pause too if the sentence goes on there. Seconds of the window.
 */
export function drawnOut(words: readonly Spoken[], speech: readonly Span[]): Span[] {
  const found: Span[] = [];
  for (const [i, { text, start, end }] of words.entries()) {
    const seconds = speechBetween(speech, start, end);
    if (seconds < STRETCHED_MIN_SECONDS || spokenLetters(text) >= STRETCHED_LETTERS_PER_SECOND * seconds) continue;
    const [before, after] = [words[i - 1], words[i + 1]];
    const from = before && !ENDS_SENTENCE.test(before.text) ? before.start : start;
    const to = after && !ENDS_SENTENCE.test(text) ? after.end : end;
    const around = speech.filter(
      (span) =>
        Math.min(span.end, to) - Math.max(span.start, from) > STRETCHED_MIN_SECONDS / 4 &&
        span.end - span.start <= STRETCHED_MAX_SPAN_SECONDS,
    );
    found.push({ start: Math.min(start, ...around.map((span) => span.start)), end: Math.max(end, ...around.map((span) => span.end)) });
  }
  return found;
}

/** Letters of a word when spelled out as spoken, vowel signs included. */
function spokenLetters(text: string): number {
  const spelled = text
    .normalize('NFC')
    .replaceAll(/\p{N}/gu, 'x'.repeat(LETTERS_PER_DIGIT))
    .replaceAll(SYLLABLES, 'xxx')
    .replaceAll(WITHOUT_VOWELS, 'xx');
  return spelled.match(/[\p{L}\p{M}]/gu)?.length ?? 0;
}

/** Merges spans, without overlap and in order. */
export function merged(spans: readonly Span[]): Span[] {
  const joined: Span[] = [];
  for (const span of spans.toSorted((a, b) => a.start - b.start)) {
    const before = joined.at(-1);
    if (before && span.start <= before.end) before.end = Math.max(before.end, span.end);
    else joined.push({ ...span });
  }
  return joined;
}

/** Spans of which less than half lies within `others`: what is decoded once is not decoded a second time. */
export function apart(spans: readonly Span[], others: readonly Span[]): Span[] {
  return spans.filter(({ start, end }) => speechBetween(others, start, end) < (end - start) / 2);
}
