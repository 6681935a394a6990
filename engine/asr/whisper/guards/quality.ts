import { deflateSync } from 'node:zlib';
import { likeliest } from '../../language.ts';
import type { DecodeResult } from '../decoding/decode-job.ts';
import type { Facts } from '../model.ts';
import { CLEAR_SPEECH_PROBABILITY, LOOP_REPETITIONS, MAX_COMPRESSION_RATIO, SEGMENT_REPETITIONS } from '../thresholds.ts';

type Known = Pick<Facts, 'thresholds'>;

/**
 * Repetitiveness of a text: characters per compressed byte. Each character counts as one byte regardless of UTF-8: with three bytes per
 * letter of which two never change, all prose in Hindi or Georgian would be repetitive.
 */
export function compressionRatio(text: string): number {
  const bytes = Buffer.from(Array.from(text, (character) => character.codePointAt(0)! & 0xff));
  return bytes.length === 0 ? 0 : bytes.length / deflateSync(bytes).length;
}

/** Whether a text may be a hallucination: the window is then decoded once more, plainly, to decide. */
export function isSuspicious(result: DecodeResult, text: string, peak: number, { thresholds }: Known): boolean {
  return (
    likeliest(result.languages).probability < thresholds.suspiciousLanguage ||
    result.noSpeech > thresholds.suspiciousNoSpeech ||
    result.meanLogProb < thresholds.suspiciousLogProb ||
    compressionRatio(text) > MAX_COMPRESSION_RATIO ||
    isWordless(text) ||
    peak < CLEAR_SPEECH_PROBABILITY
  );
}

/** Whether a plain result (no timestamps, end-of-text never refused) indicates that nothing was spoken. */
export function isInvented(plain: DecodeResult, { thresholds }: Known): boolean {
  const score = plain.meanLogProb + 0.5 * Math.log(likeliest(plain.languages).probability);
  return score < thresholds.minSpeechScore || plain.noSpeech > thresholds.maxNoSpeech;
}

/** Whether a decoding should be retried: it repeats itself, or its probability is low. */
export function isPoor(result: DecodeResult, text: string, { thresholds }: Known): boolean {
  return result.meanLogProb < thresholds.poorLogProb || compressionRatio(text) > MAX_COMPRESSION_RATIO || loop(result.tokens) !== null;
}

/** Whether a text contains no words: a dash, or music notes. */
export function isWordless(text: string): boolean {
  return !/[\p{L}\p{N}]/u.test(text);
}

/** The start of a loop: the same 1 to 12 tokens at least four times in a row, 8 tokens or more in total. Null: none. */
export function loop(tokens: readonly number[]): { start: number; length: number; times: number } | null {
  for (let start = 0; start < tokens.length; start++) {
    for (let length = 1; length <= 12; length++) {
      let times = 1;
      while (same(tokens, start, start + times * length, length)) times++;
      if (times >= LOOP_REPETITIONS && times * length >= 8) return { start, length, times };
    }
  }
  return null;
}

/**
 * The same text in one segment after another, in a row from which a loop was cut off: the tokens of its first repetition. Null: none.
 * Short answers such as "Yes." may well be repeated in segments of their own, so other rows are not examined.
 */
export function loopOfSegments(
  { tokens, loops = 0 }: Pick<DecodeResult, 'tokens' | 'loops'>,
  { firstTimestamp }: Pick<Facts, 'firstTimestamp'>,
): { start: number; end: number } | null {
  if (loops === 0) return null;
  const places = tokens.flatMap((token, i) => (token < firstTimestamp ? i : []));
  const found = loop(places.map((place) => tokens[place]!));
  if (!found || found.times < SEGMENT_REPETITIONS) return null;
  return { start: places[found.start]!, end: places[found.start + found.length - 1]! + 1 };
}

function same(tokens: readonly number[], a: number, b: number, length: number): boolean {
  if (b + length > tokens.length) return false;
  for (let i = 0; i < length; i++) if (tokens[a + i] !== tokens[b + i]) return false;
  return true;
}

/**
 * Removes guesses: improbable text after an overridden timestamp, set because speech continues there. Breath and noise at the end of a
 * sentence count as speech to the detector, and make base write "Alright." or "Wow.".
 * @param isSpeech whether the audio between two timestamp tokens is certainly speech: then its text is kept, however improbable
 */
export function withoutGuesses<T extends DecodeResult>(
  result: T,
  { firstTimestamp, thresholds }: Pick<Facts, 'firstTimestamp' | 'thresholds'>,
  isSpeech: (from: number, to: number) => boolean = () => false,
): T {
  const cut = new Set<number>();
  for (const at of result.resumed) {
    let end = at + 1;
    while (end < result.tokens.length && result.tokens[end]! < firstTimestamp) end++;
    const logProbs = result.logProbs.slice(at + 1, end);
    const mean = logProbs.reduce((sum, value) => sum + value, 0) / Math.max(1, logProbs.length);
    const believed = mean >= thresholds.guessedLogProb || isSpeech(result.tokens[at]!, result.tokens[end] ?? result.tokens[at]!);
    if (!believed) for (let i = at; i <= end; i++) cut.add(i);
  }
  const kept = <V>(list: readonly V[]) => list.filter((_, i) => !cut.has(i) || i >= result.tokens.length);
  return { ...result, tokens: kept(result.tokens), logProbs: kept(result.logProbs), attention: kept(result.attention), resumed: [] };
}

/** A result with each loop reduced to one repetition, and without anything after a loop that goes on in other segments. */
export function withoutLoops<T extends DecodeResult>(result: T, facts: Pick<Facts, 'firstTimestamp'>): T {
  const { tokens } = result;
  const without = (from: number, to: number) => {
    const cut = <V>(list: readonly V[]) => [...list.slice(0, from), ...list.slice(to)];
    return { ...result, tokens: cut(tokens), logProbs: cut(result.logProbs), attention: cut(result.attention) };
  };
  const repeated = loopOfSegments(result, facts);
  if (repeated) return withoutLoops(without(repeated.end, tokens.length), facts);
  const found = loop(tokens);
  return found ? withoutLoops(without(found.start + found.length, found.start + found.length * found.times), facts) : result;
}
