import type { Spoken } from './words.ts';

const FEWEST = 4; // words: fewer may be repeated for emphasis, and fast
const JOINTS = 2; // words that may join the two: "and"
const FASTEST = 0.013; // seconds a letter, 0.06 a word: nobody is faster over several words; some scripts have a "word" for every sign

/**
 * Removes words that the model wrote twice although they were said once: a sentence is repeated verbatim, and alignment finds no sound for
 * one of the copies, so that it is squeezed into some hundredths of a second beside the other. Text that is really said twice takes its
 * time twice.
 */
export function withoutEchoes(words: readonly Spoken[]): Spoken[] {
  const plain = words.map(({ text }) => text.toLowerCase().replaceAll(/[^\p{L}\p{M}\p{N}]/gu, ''));
  for (let length = words.length >> 1; length >= FEWEST; length--) {
    for (let between = 0; between <= JOINTS; between++) {
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
  return words[first + count - 1]!.end - words[first]!.start < FASTEST * letters;
}

function repeats(plain: readonly string[], first: number, second: number, length: number): boolean {
  for (let i = 0; i < length; i++) if (plain[first + i] !== plain[second + i]) return false;
  return true;
}
