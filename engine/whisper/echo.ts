import type { Spoken } from './words.ts';

const FEWEST = 4; // words: fewer may be repeated for emphasis, and fast
const FASTEST = 0.06; // seconds a word: nobody says one in less, over several of them

/**
 * Words without what the model wrote twice and heard once: a sentence is repeated word for word, and alignment finds no sound for one of the two, so
 * that all of it is squeezed into some hundredths of a second beside the other. What is really said twice takes its time twice.
 */
export function withoutEchoes(words: readonly Spoken[]): Spoken[] {
  const plain = words.map(({ text }) => text.toLowerCase().replaceAll(/[^\p{L}\p{N}]/gu, ''));
  for (let length = words.length >> 1; length >= FEWEST; length--) {
    for (let first = 0; first + 2 * length <= words.length; first++) {
      const second = first + length;
      if (!repeats(plain, first, second, length)) continue;
      const echo = [second, first].find((at) => words[at + length - 1]!.end - words[at]!.start < FASTEST * length);
      if (echo !== undefined) return withoutEchoes(words.toSpliced(echo, length));
    }
  }
  return [...words];
}

function repeats(plain: readonly string[], first: number, second: number, length: number): boolean {
  for (let i = 0; i < length; i++) if (plain[first + i] !== plain[second + i]) return false;
  return true;
}
