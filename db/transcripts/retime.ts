import { milli } from '../../api/contract/seconds.ts';

/** A stored word: seconds, text with its leading space, confidence if known. */
export type StoredWord = [start: number, end: number, text: string, confidence?: number | null];

interface Token {
  text: string;
  /** First character, and the one after the last. */
  from: number;
  to: number;
}

interface Kept {
  word: StoredWord;
  index: number;
  from: number;
  to: number;
}

const MOST_CELLS = 1_000_000; // of a comparison: 2 MB and about 10 ms

const segmenter = new Intl.Segmenter('en', { granularity: 'word' });

/**
 * Assigns times to the words of a corrected text. Unchanged words keep their times and confidence; new ones get the times of the words they
 * replace, or share the time between their neighbours. `start` and `end` are those of the segment.
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
      result[result.length - 1] = [last[0], last[1], last[2] + gap.trimEnd(), ...last.slice(3)] as StoredWord; // punctuation after a word
    } else result.push(...fill(gap, replaced, last?.[1] ?? start, next?.word[0] ?? end));
    if (!next) break;
    const [from, to, old, ...sure] = next.word;
    const space = /\s$/.test(gap) || (next.from === 0 && /^\s/.test(old)) ? ' ' : '';
    result.push([from, to, space + text.slice(next.from, next.to), ...sure] as StoredWord);
    [at, index] = [next.to, next.index + 1];
  }
  return result;
}

/** Times of new words that replace old ones: one to one if their numbers are equal, else in proportion to their lengths. */
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

/** The words whose characters all occur consecutively in the new text, with their positions there. */
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

/** For each character of `before`, the position of the same one in `after`, or -1. */
function matched(before: string, after: string): Int32Array {
  const [a, b] = [tokensOf(before), tokensOf(after)];
  const places = new Int32Array(before.length).fill(-1);
  const pair = (x: Token, y: Token) => {
    for (let i = 0; i < x.text.length; i++) places[x.from + i] = y.from + i;
  };
  const shorter = Math.min(a.length, b.length);
  let [start, end] = [0, 0]; // tokens that both begin and end with
  for (; start < shorter && a[start]!.text === b[start]!.text; start++) pair(a[start]!, b[start]!);
  for (; end < shorter - start && a.at(-1 - end)!.text === b.at(-1 - end)!.text; end++) pair(a.at(-1 - end)!, b.at(-1 - end)!);
  alignBetween(a.slice(start, a.length - end), b.slice(start, b.length - end), pair);
  return places;
}

/** Pairs the longest common subsequence of words and punctuation marks; none of texts that are too long to compare. */
function alignBetween(a: readonly Token[], b: readonly Token[], pair: (x: Token, y: Token) => void): void {
  const width = b.length + 1;
  if ((a.length + 1) * width > MOST_CELLS) return;
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
}

/** Words and punctuation marks; single characters in scripts without spaces. */
function tokensOf(text: string): Token[] {
  const tokens: Token[] = [];
  for (const run of text.matchAll(RUN)) {
    let at = run.index;
    for (const { segment } of segmenter.segment(run[0]))
      for (const part of UNSPACED.test(segment) ? segment : [segment]) tokens.push({ text: part, from: at, to: (at += part.length) });
  }
  return tokens;
}

const RUN = /\S{1,500}/gu; // short, because the segmenter copies its whole input for every word

const UNSPACED = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}]/u;
