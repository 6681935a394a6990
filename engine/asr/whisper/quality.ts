import { deflateSync } from 'node:zlib';
import { type DecodeResult, likeliest } from './decode-job.ts';

/** Thresholds measured on 26 windows of noise and 175 real clips (docs/decisions/speech-recognition.md): none of the real ones is lost. */
const UNCERTAIN_LANGUAGE = 0.6;
const LIKELY_SILENCE = 0.5;
const DOUBTFUL = -0.9; // mean log-probability
const REPETITIVE = 2.4; // characters of text per byte compressed
const CLEAR_SPEECH = 0.96; // peak of the speech probability
const WORST_SCORE = -1.25;
const SILENCE = 0.7;
const POOR = -1.0; // mean log-probability of a row that is tried again
const GUESSED = -1.0; // mean log-probability of a segment that was not the model's own idea
const LOOP = 4; // times in a row that something is said before it counts as a loop

/**
 * How repetitive a text is: its characters by their compressed bytes. Each character counts as one byte, whatever UTF-8 makes of it: three bytes a letter of
 * which two never change would make all prose in Hindi or Georgian repetitive.
 */
export function compressionRatio(text: string): number {
  const bytes = Buffer.from(Array.from(text, (character) => character.codePointAt(0)! & 0xff));
  return bytes.length === 0 ? 0 : bytes.length / deflateSync(bytes).length;
}

/** Whether a text may have been invented: the window is decoded once more, plainly, to judge. */
export function isSuspicious(result: DecodeResult, text: string, peak: number): boolean {
  return (
    likeliest(result.languages).probability < UNCERTAIN_LANGUAGE ||
    result.noSpeech > LIKELY_SILENCE ||
    result.meanLogProb < DOUBTFUL ||
    compressionRatio(text) > REPETITIVE ||
    isWordless(text) ||
    peak < CLEAR_SPEECH
  );
}

/** Whether a plain result (no timestamps, end-of-text never refused) says that nothing was spoken. */
export function isInvented(plain: DecodeResult): boolean {
  return plain.meanLogProb + 0.5 * Math.log(likeliest(plain.languages).probability) < WORST_SCORE || plain.noSpeech > SILENCE;
}

/** Whether a decoding is worth another try: it repeats itself, or the model did not believe it. */
export function isPoor(result: DecodeResult, text: string): boolean {
  return result.meanLogProb < POOR || compressionRatio(text) > REPETITIVE || loop(result.tokens) !== null;
}

/** Whether nothing is said in a text: it is a dash, or notes of music. */
export function isWordless(text: string): boolean {
  return !/[\p{L}\p{N}]/u.test(text);
}

/** Where a loop begins: the same 1 to 12 tokens at least four times in a row, 8 tokens or more in all. Null: none. */
export function loop(tokens: readonly number[]): { start: number; length: number; times: number } | null {
  for (let start = 0; start < tokens.length; start++) {
    for (let length = 1; length <= 12; length++) {
      let times = 1;
      while (same(tokens, start, start + times * length, length)) times++;
      if (times >= LOOP && times * length >= 8) return { start, length, times };
    }
  }
  return null;
}

function same(tokens: readonly number[], a: number, b: number, length: number): boolean {
  if (b + length > tokens.length) return false;
  for (let i = 0; i < length; i++) if (tokens[a + i] !== tokens[b + i]) return false;
  return true;
}

/**
 * A result without what the model only guessed: text after a timestamp it was made to set, since speech goes on there, that it did not believe.
 * Breath and noise at the end of a sentence count as speech to the detector, and make base say "Alright." or "Wow.".
 * @param isSpeech whether what lies between two timestamps, as tokens, is speech beyond doubt: then what is said of it stays, however improbable
 */
export function withoutGuesses<T extends DecodeResult>(
  result: T,
  firstTimestamp: number,
  isSpeech: (from: number, to: number) => boolean = () => false,
): T {
  const cut = new Set<number>();
  for (const at of result.resumed) {
    let end = at + 1;
    while (end < result.tokens.length && result.tokens[end]! < firstTimestamp) end++;
    const logProbs = result.logProbs.slice(at + 1, end);
    const mean = logProbs.reduce((sum, value) => sum + value, 0) / Math.max(1, logProbs.length);
    const believed = mean >= GUESSED || isSpeech(result.tokens[at]!, result.tokens[end] ?? result.tokens[at]!);
    if (!believed) for (let i = at; i <= end; i++) cut.add(i);
  }
  const kept = <V>(list: readonly V[]) => list.filter((_, i) => !cut.has(i) || i >= result.tokens.length);
  return { ...result, tokens: kept(result.tokens), logProbs: kept(result.logProbs), attention: kept(result.attention), resumed: [] };
}

/** A result whose loops are said once. */
export function withoutLoops<T extends DecodeResult>(result: T): T {
  const found = loop(result.tokens);
  if (!found) return result;
  const from = found.start + found.length;
  const to = found.start + found.length * found.times;
  const cut = <V>(list: readonly V[]) => [...list.slice(0, from), ...list.slice(to)];
  return withoutLoops({ ...result, tokens: cut(result.tokens), logProbs: cut(result.logProbs), attention: cut(result.attention) });
}
