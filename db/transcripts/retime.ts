import { milli } from '../../api/contract/seconds.ts';

/** A word as it is stored: seconds, text with the space in front of it, confidence where it is known. */
export type StoredWord = [start: number, end: number, text: string, confidence?: number | null];

interface Token {
  text: string;
  /** First and behind the last character. */
  from: number;
  to: number;
}

interface Kept {
  word: StoredWord;
  index: number;
  from: number;
  to: number;
}

const segmenter = new Intl.Segmenter('en', { granularity: 'word' });

/**
 * Gives the words of a corrected text their times. Words that nobody touched keep theirs, with their confidence; new ones take those of the words in whose place they
 * stand, or share the time between their neighbours. `start` and `end` are those of the segment.
 */
export function retime(words: readonly StoredWord[], text: string, start: number, end: number): StoredWord[] {
  const kept = keptWords(words, text);
  const result: StoredWord[] = [];
  let [at, index] = [0, 0];
  for (const next of [...kept, null]) {
    const gap = text.slice(at, next?.from ?? text.length);
    const replaced = words.slice(index, next?.index ?? words.length);
    const last = result.at(-1);
    if (last && gap.trim() && !/^\s|[\p{L}\p{N}]/u.test(gap)) {
      result[result.length - 1] = [last[0], last[1], last[2] + gap.trimEnd(), ...last.slice(3)] as StoredWord; // a mark behind a word
    } else result.push(...fill(gap, replaced, last?.[1] ?? start, next?.word[0] ?? end));
    if (!next) break;
    const [from, to, old, ...sure] = next.word;
    const space = /\s$/.test(gap) || (next.from === 0 && /^\s/.test(old)) ? ' ' : '';
    result.push([from, to, space + text.slice(next.from, next.to), ...sure] as StoredWord);
    [at, index] = [next.to, next.index + 1];
  }
  return result;
}

/** New words in the place of old ones: one for one where there are as many, else in proportion to their letters. */
function fill(gap: string, replaced: readonly StoredWord[], after: number, before: number): StoredWord[] {
  const pieces = gap.match(/\s*\S+/g)?.map((piece) => piece.replace(/^\s+/, ' ')) ?? [];
  if (!pieces.length) return [];
  if (pieces.length === replaced.length) return pieces.map((piece, index) => [replaced[index]![0], replaced[index]![1], piece]);
  const from = replaced[0]?.[0] ?? after;
  const to = Math.max(from, replaced.at(-1)?.[1] ?? before);
  const total = pieces.join('').length;
  let at = from;
  return pieces.map((piece) => {
    const word: StoredWord = [at, Math.min(to, milli(at + ((to - from) * piece.length) / total)), piece];
    at = word[1];
    return word;
  });
}

/** The words all of whose letters are in the new text, side by side, with their places there. */
function keptWords(words: readonly StoredWord[], text: string): Kept[] {
  const before = words.map((word) => word[2]).join('');
  const places = matched(before, text);
  const kept: Kept[] = [];
  let at = 0;
  for (const [index, word] of words.entries()) {
    const from = at + word[2].length - word[2].trimStart().length;
    const to = at + word[2].trimEnd().length;
    at += word[2].length;
    const place = places[from];
    if (to <= from || place === undefined || place < 0) continue;
    let whole = true;
    for (let i = from; i < to; i++) whole &&= places[i] === place + i - from;
    if (whole) kept.push({ word, index, from: place, to: place + to - from });
  }
  return kept;
}

/** For each character of `before` the place of the same one in `after`, or -1: by the longest common sequence of words and marks. */
function matched(before: string, after: string): Int32Array {
  const [a, b] = [tokensOf(before), tokensOf(after)];
  const places = new Int32Array(before.length).fill(-1);
  const pair = (x: Token, y: Token) => {
    for (let i = 0; i < x.text.length; i++) places[x.from + i] = y.from + i;
  };
  const width = b.length + 1;
  const longest = new Uint16Array((a.length + 1) * width);
  for (let i = a.length - 1; i >= 0; i--)
    for (let j = b.length - 1; j >= 0; j--)
      longest[i * width + j] =
        a[i]!.text === b[j]!.text
          ? longest[(i + 1) * width + j + 1]! + 1
          : Math.max(longest[(i + 1) * width + j]!, longest[i * width + j + 1]!);
  for (let i = 0, j = 0; i < a.length && j < b.length; ) {
    if (a[i]!.text === b[j]!.text) pair(a[i++]!, b[j++]!);
    else if (longest[(i + 1) * width + j]! >= longest[i * width + j + 1]!) i++;
    else j++;
  }
  return places;
}

/** Words and marks; single characters where a language writes no spaces. */
function tokensOf(text: string): Token[] {
  return [...segmenter.segment(text)]
    .filter(({ segment }) => segment.trim())
    .flatMap(({ segment, index }) => {
      let at = index;
      const parts = UNSPACED.test(segment) ? [...segment] : [segment];
      return parts.map((part) => ({ text: part, from: at, to: (at += part.length) }));
    });
}

const UNSPACED = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}]/u;
