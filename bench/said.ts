/**
 * Synthetic transcripts for bench/search.ts: word frequencies as in natural language (Zipf), and some words in each that occur in no
 * other.
 */

const VOCABULARY = 60_000; // distinct words
const OFFSET = 2.7; // parameter of Mandelbrot's law: the frequency of rank r is proportional to 1 / (r + OFFSET)
const POOL = 4_096; // distinct transcripts; unique words make a million of them
const NAMES = 3; // unique words per transcript
const SYLLABLES = 'ba ce di fo gu ha je ki lo mu na pe ri so tu va we xi yo zu'.split(' ');

/** The word of a rank: frequent words are short. */
export function wordOf(rank: number): string {
  let text = '';
  for (let rest = rank + 1; rest > 0; rest = Math.floor(rest / SYLLABLES.length)) text += SYLLABLES[rest % SYLLABLES.length];
  return text;
}

/** A word that occurs only in transcript `i`. */
export const nameOf = (i: number, which: number): string => `q${(i * NAMES + which).toString(36)}`;

/** Content of transcript `i`: ranks of words, and unique names. */
export interface Script {
  ranks: readonly number[];
  names: string[];
}

/** Generates transcripts of this many words, reproducibly. */
export function openScripts(words: number): (i: number) => Script {
  const cumulated = new Float64Array(VOCABULARY);
  let sum = 0;
  for (let rank = 0; rank < VOCABULARY; rank++) cumulated[rank] = sum += 1 / (rank + OFFSET);
  let state = 12345;
  const random = () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return state / 2 ** 32;
  };
  const draw = () => {
    const wanted = random() * sum;
    let [low, high] = [0, VOCABULARY - 1];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (cumulated[middle]! < wanted) low = middle + 1;
      else high = middle;
    }
    return low;
  };
  const pool = Array.from({ length: POOL }, () => Array.from({ length: words - NAMES }, draw));
  return (i) => ({ ranks: pool[i % POOL]!, names: Array.from({ length: NAMES }, (_, which) => nameOf(i, which)) });
}

/** The words as one text. */
export function textOf({ ranks, names }: Script): string {
  return [...ranks.map(wordOf), ...names].join(' ');
}
