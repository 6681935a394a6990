import type { Sentence } from './sentences.ts';
import type { Talk } from './talk.ts';

const SECONDS = 150; // of talk that one chapter should last
const MOST = 12;
const WINDOW = 10; // sentences compared on each side of a cut

/** The talk cut into chapters where the words change most (TextTiling, Hearst 1997): at most 12, none shorter than half an even share. */
export function chaptersOf(talk: Talk): Sentence[][] {
  const { sentences } = talk;
  const wanted = Math.min(MOST, Math.floor(sentences.length / 4), Math.round(talk.transcript.durationSeconds / SECONDS) || 1);
  if (wanted < 2) return sentences.length > 0 ? [sentences] : [];
  const least = Math.max(2, Math.floor(sentences.length / wanted / 2));
  const cuts: number[] = [];
  const gaps = sentences.map((_, at) => ({ at, likeness: likeness(talk, at) })).slice(least, -least);
  for (const { at } of gaps.sort((a, b) => a.likeness - b.likeness || a.at - b.at)) {
    if (cuts.length === wanted - 1) break;
    if (cuts.every((cut) => Math.abs(cut - at) >= least)) cuts.push(at);
  }
  cuts.sort((a, b) => a - b);
  return [0, ...cuts].map((from, index) => sentences.slice(from, cuts[index]));
}

/** Cosine of the words before and after a gap. */
function likeness(talk: Talk, at: number): number {
  const before = total(talk, Math.max(0, at - WINDOW), at);
  const after = total(talk, at, Math.min(talk.sentences.length, at + WINDOW));
  let sum = 0;
  for (const [column, value] of before) sum += value * (after.get(column) ?? 0);
  return sum / ((Math.hypot(...before.values()) || 1) * (Math.hypot(...after.values()) || 1));
}

function total({ matrix }: Talk, from: number, to: number): Map<number, number> {
  const sums = new Map<number, number>();
  for (let at = matrix.from[from]!; at < matrix.from[to]!; at++)
    sums.set(matrix.column[at]!, (sums.get(matrix.column[at]!) ?? 0) + matrix.value[at]!);
  return sums;
}
