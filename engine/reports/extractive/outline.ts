import type { Matrix } from './rank.ts';
import type { Sentence } from './sentences.ts';
import type { Talk } from './talk.ts';

const SECONDS = 150; // target length of a chapter, seconds; 50 % of a short conversation
const MOST = 12;
const WINDOW = 10; // sentences compared on each side of a boundary

/**
 * Splits the conversation where the vocabulary changes most (TextTiling, Hearst 1997): at most 12 chapters, none shorter than 50 % of an
 * equal share.
 */
export function chaptersOf(talk: Talk): Sentence[][] {
  const { sentences } = talk;
  const wanted = Math.min(MOST, Math.floor(sentences.length / 6), Math.max(2, Math.round(talk.transcript.durationSeconds / SECONDS)));
  if (wanted < 2) return sentences.length > 0 ? [sentences] : [];
  const least = Math.max(2, Math.floor(sentences.length / wanted / 2));
  const cuts: number[] = [];
  const gaps = likenesses(talk.matrix)
    .map((likeness, at) => ({ at, likeness }))
    .slice(least, -least);
  for (const { at } of gaps.sort((a, b) => a.likeness - b.likeness || a.at - b.at)) {
    if (cuts.length === wanted - 1) break;
    if (cuts.every((cut) => Math.abs(cut - at) >= least)) cuts.push(at);
  }
  cuts.sort((a, b) => a - b);
  return [0, ...cuts].map((from, index) => sentences.slice(from, cuts[index]));
}

/**
 * For the gap before each sentence, the cosine of the words on both sides. The windows slide, so each sentence is added and removed twice.
 */
function likenesses(matrix: Matrix): number[] {
  const before = new Float64Array(matrix.columns);
  const after = new Float64Array(matrix.columns);
  const sums = { product: 0, before: 0, after: 0 };
  const add = (side: 'before' | 'after', row: number, sign: 1 | -1) => {
    if (row < 0 || row >= matrix.rows) return;
    const [own, other] = side === 'before' ? [before, after] : [after, before];
    for (let at = matrix.from[row]!; at < matrix.from[row + 1]!; at++) {
      const column = matrix.column[at]!;
      const change = sign * matrix.value[at]!;
      sums.product += change * other[column]!;
      sums[side] += change * (2 * own[column]! + change);
      own[column]! += change;
    }
  };
  for (let row = 0; row < WINDOW - 1; row++) add('after', row, 1);
  return Array.from({ length: matrix.rows }, (_, row) => {
    add('after', row + WINDOW - 1, 1);
    const size = Math.sqrt(Math.max(0, sums.before) * Math.max(0, sums.after));
    const likeness = size > 1e-9 ? sums.product / size : 0;
    add('after', row, -1);
    add('before', row, 1);
    add('before', row - WINDOW, -1);
    return likeness;
  });
}
