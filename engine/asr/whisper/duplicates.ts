import { MAX_JOINING_WORDS, MIN_ECHO_WORDS, MIN_SECONDS_PER_LETTER } from './thresholds.ts';
import type { Spoken } from './words.ts';

/**
 * Removes words that the model wrote twice although they were said once: it repeats a sentence verbatim, and alignment finds no sound for
 * one of the copies, which is squeezed into some hundredths of a second beside the other. Text that is really said twice takes twice the
 * time.
 */
export function withoutEchoes(words: readonly Spoken[]): Spoken[] {
  const plain = words.map(({ text }) => text.toLowerCase().replaceAll(/[^\p{L}\p{M}\p{N}]/gu, ''));
  for (let length = words.length >> 1; length >= MIN_ECHO_WORDS; length--) {
    for (let between = 0; between <= MAX_JOINING_WORDS; between++) {
      const both = 2 * length + between;
      for (let first = 0; first + both <= words.length; first++) {
        const second = first + length + between;
        if (!repeats(plain, first, second, length)) continue;
        const echo = [second, first].find((at) => soundless(words, plain, at, length));
        if (echo === undefined) continue;
        const from = echo === second ? first + length : first;
        const all = soundless(words, plain, from, length + between); // joining words are removed with the echo unless they were said
        return withoutEchoes(all ? words.toSpliced(from, length + between) : words.toSpliced(echo, length));
      }
    }
  }
  return [...words];
}

function soundless(words: readonly Spoken[], plain: readonly string[], first: number, count: number): boolean {
  const letters = plain.slice(first, first + count).join('').length;
  return words[first + count - 1]!.end - words[first]!.start < MIN_SECONDS_PER_LETTER * letters;
}

function repeats(plain: readonly string[], first: number, second: number, length: number): boolean {
  for (let i = 0; i < length; i++) if (plain[first + i] !== plain[second + i]) return false;
  return true;
}
