import { MAX_JOINING_WORDS, MIN_ECHO_WORDS, MIN_MISSING_SECONDS, MIN_SECONDS_PER_LETTER } from '../thresholds.ts';
import type { Spoken } from '../timing/words.ts';

const PAUSE_SECONDS = 0.05; // from here on words do not touch; alignment leaves nothing between them

/**
 * Removes words that the model wrote twice although they were said once: it repeats a sentence verbatim, and alignment finds no sound for
 * one of the copies, which is squeezed into some hundredths of a second beside the other, or for the end of one copy and the beginning of the
 * next. Text that is really said twice takes twice the time.
 */
export function withoutEchoes(words: readonly Spoken[]): Spoken[] {
  const plain = words.map(({ text }) => text.toLowerCase().replaceAll(/[^\p{L}\p{M}\p{N}]/gu, ''));
  for (let length = words.length >> 1; length >= MIN_ECHO_WORDS; length--) {
    for (let between = 0; between <= MAX_JOINING_WORDS; between++) {
      const both = 2 * length + between;
      for (let first = 0; first + both <= words.length; first++) {
        const second = first + length + between;
        if (!repeats(plain, first, second, length)) continue;
        const echo = echoOf(words, plain, { first, second, length });
        if (echo) return withoutEchoes(without(words, echo));
      }
    }
  }
  return [...words];
}

/** Words without an echo. Its speech goes to the words that touch it, or no word would cover it; what is long enough is decoded again. */
function without(words: readonly Spoken[], { from, count }: { from: number; count: number }): Spoken[] {
  const kept = [...words];
  const [before, after, echo] = [words[from - 1], words[from + count], words.slice(from, from + count)];
  const touches = (a: Spoken | undefined, b: Spoken | undefined) => a !== undefined && b !== undefined && b.start - a.end < PAUSE_SECONDS;
  if (echo.at(-1)!.end - echo[0]!.start < MIN_MISSING_SECONDS) {
    const pauses = echo.flatMap((word, i) => (i > 0 && !touches(echo[i - 1], word) ? [i] : []));
    const until = echo[(pauses[0] ?? count) - 1]!.end;
    if (before && touches(before, echo[0])) kept[from - 1] = { ...before, end: until };
    const start = Math.max(kept[from - 1]?.end ?? 0, echo[pauses.at(-1) ?? 0]!.start);
    if (after && touches(echo.at(-1), after)) kept[from + count] = { ...after, start };
  }
  return kept.toSpliced(from, count);
}

/** The words without sound of two copies of `length` words, and with them the joining words unless they were said. */
function echoOf(
  words: readonly Spoken[],
  plain: readonly string[],
  { first, second, length }: Record<'first' | 'second' | 'length', number>,
) {
  const count = second - first; // with the joining words
  const copy = [second, first].find((at) => soundless(words, plain, at, length));
  if (copy !== undefined) {
    const from = copy === second ? first + length : first;
    return soundless(words, plain, from, count) ? { from, count } : { from: copy, count: length };
  }
  // the end of one copy and the beginning of the next
  const lasts = (from: number) => words[from + count - 1]!.end - words[from]!.start;
  const within = Array.from({ length: length - 1 }, (_, i) => first + 1 + i).filter((from) => soundless(words, plain, from, count));
  return within.length ? { from: within.reduce((a, b) => (lasts(b) < lasts(a) ? b : a)), count } : null;
}

function soundless(words: readonly Spoken[], plain: readonly string[], first: number, count: number): boolean {
  const letters = plain.slice(first, first + count).join('').length;
  return words[first + count - 1]!.end - words[first]!.start < MIN_SECONDS_PER_LETTER * letters;
}

function repeats(plain: readonly string[], first: number, second: number, length: number): boolean {
  for (let i = 0; i < length; i++) if (plain[first + i] !== plain[second + i]) return false;
  return true;
}
