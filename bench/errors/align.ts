import type { Segment } from '../../engine/types.ts';
import type { TrueTurn } from '../recordings/clips.ts';
import type { Conversation, TrueWordRun } from '../recordings/conversations.ts';
import { bestMapping } from './der.ts';
import { type Errors, englishWords } from './normalise.ts';

/** One step of an alignment: a word of the reference, of the hypothesis, or of both. */
interface Step {
  /** Word index in `reference` and in `hypothesis`; null if there is none. */
  said: number | null;
  heard: number | null;
}

/** The alignment with the fewest errors, in order. Uses a byte per pair of words. */
function alignment(reference: readonly string[], hypothesis: readonly string[]): Step[] {
  const width = hypothesis.length + 1;
  const moves = new Uint8Array((reference.length + 1) * width); // 0: both, 1: deletion, 2: insertion
  let row = Uint32Array.from({ length: width }, (_, j) => j);
  moves.fill(2, 1, width);
  for (let i = 1; i <= reference.length; i++) {
    const next = new Uint32Array(width);
    next[0] = i;
    moves[i * width] = 1;
    for (let j = 1; j < width; j++) {
      const both = row[j - 1]! + (reference[i - 1] === hypothesis[j - 1] ? 0 : 1);
      const least = Math.min(both, row[j]! + 1, next[j - 1]! + 1);
      next[j] = least;
      moves[i * width + j] = least === both ? 0 : least === row[j]! + 1 ? 1 : 2;
    }
    row = next;
  }
  const steps: Step[] = [];
  for (let i = reference.length, j = hypothesis.length; i > 0 || j > 0; ) {
    const move = moves[i * width + j];
    steps.push({ said: move === 2 ? null : --i, heard: move === 1 ? null : --j });
  }
  return steps.reverse();
}

/** Pairs [index in `reference`, index in `hypothesis`] of equal words in the alignment with the fewest errors, in order. */
export function matches(reference: readonly string[], hypothesis: readonly string[]): [number, number][] {
  return alignment(reference, hypothesis).flatMap(({ said, heard }): [number, number][] =>
    said !== null && heard !== null && reference[said] === hypothesis[heard] ? [[said, heard]] : [],
  );
}

/** Longest run of words of `reference` without a counterpart in `hypothesis`, not even a wrong one: a dropped sentence gives a long run. */
export function longestGap(reference: readonly string[], hypothesis: readonly string[]): number {
  let [longest, gap] = [0, 0];
  for (const { heard } of alignment(reference, hypothesis)) {
    gap = heard === null ? gap + 1 : 0;
    longest = Math.max(longest, gap);
  }
  return longest;
}

/** Errors in each of several runs of words that were recognised as one text; insertions count for the preceding run. */
export function errorsOfRuns(runs: readonly (readonly string[])[], hypothesis: readonly string[]): Errors[] {
  const reference = runs.flat();
  const owner = runs.flatMap((run, i) => run.map(() => i));
  const errors = runs.map((run): Errors => ({ reference: run.length, substituted: 0, deleted: 0, inserted: 0 }));
  let run = 0;
  for (const { said, heard } of alignment(reference, hypothesis)) {
    run = said === null ? run : owner[said]!;
    const own = errors[run];
    if (!own) continue;
    if (said === null) own.inserted++;
    else if (heard === null) own.deleted++;
    else if (reference[said] !== hypothesis[heard]) own.substituted++;
  }
  return errors;
}

/** Errors of one text: the Levenshtein distance by kinds. */
export function countErrors(reference: readonly string[], hypothesis: readonly string[]): Errors {
  return errorsOfRuns([reference], hypothesis)[0]!;
}

interface Unit<T> {
  text: string;
  of: T;
}

/** Splits texts into the words that error rates compare, each with its origin. Both sides are split alike, so numbers stay separate. */
function units<T>(texts: readonly { text: string; of: T }[]): Unit<T>[] {
  return texts.flatMap(({ text, of }) => englishWords(text).map((word) => ({ text: word, of })));
}

interface HeardWord {
  start: number;
  end: number;
  speaker: string;
}

interface SaidWord {
  run: TrueWordRun;
  /** Whether it is the first or the last word of its clip. */
  first: boolean;
  last: boolean;
}

/** The correctly recognised words: each with its clip and its time in the transcript. */
function understood(made: Conversation, segments: readonly Segment[]): { said: SaidWord; heard: HeardWord }[] {
  const said = made.said
    .toSorted((a, b) => a.start - b.start)
    .flatMap((run) => {
      const own = units(run.transcript.split(/\s+/).map((text) => ({ text, of: run })));
      return own.map(({ text }, i): Unit<SaidWord> => ({ text, of: { run, first: i === 0, last: i === own.length - 1 } }));
    });
  const words = segments.flatMap((segment) => segment.words.map((word) => ({ ...word, speaker: String(segment.speaker) })));
  const heard = units<HeardWord>(words.map((of) => ({ text: of.text, of })));
  const pairs = matches(
    said.map(({ text }) => text),
    heard.map(({ text }) => text),
  );
  return pairs.map(([i, j]) => ({ said: said[i]!.of, heard: heard[j]!.of }));
}

/** Of the correctly recognised words, those attributed to the right speaker, under the best one-to-one mapping of speakers. */
export function wordsAttributed(made: Conversation, segments: readonly Segment[]): { right: number; total: number } {
  const words = understood(made, segments);
  const truth = [...new Set(words.map(({ said }) => said.run.speaker))];
  const found = [...new Set(words.map(({ heard }) => heard.speaker))];
  const counts = found.map(() => truth.map(() => 0));
  for (const { said, heard } of words) counts[found.indexOf(heard.speaker)]![truth.indexOf(said.run.speaker)]!++;
  const right = bestMapping(counts).reduce((sum, j, i) => sum + (j >= 0 ? counts[i]![j]! : 0), 0);
  return { right, total: words.length };
}

export interface WordTimes {
  /** Errors of the edges of clips: start of speech to start of the first word, and the same for ends, seconds, ascending. */
  errors: number[];
  /** Edges whose word was not recognised, so that times cannot be compared. */
  unheard: number;
  /** Words that start before the previous word, end before they start, or exceed the duration. */
  disordered: number;
}

/** Word timestamps of clips joined at known positions: error of the start of the first word and the end of the last one, seconds. */
export function wordTimes(made: Conversation, segments: readonly Segment[], durationSeconds: number): WordTimes {
  const errors = understood(made, segments)
    .flatMap(({ said: { run, first, last }, heard }) => [
      ...(first ? [Math.abs(heard.start - run.start)] : []),
      ...(last ? [Math.abs(heard.end - run.end)] : []),
    ])
    .sort((a, b) => a - b);
  const words = segments.flatMap((segment) => segment.words);
  const disordered = words.filter(
    ({ start, end }, i) => start < (words[i - 1]?.start ?? 0) || end < start || end > durationSeconds + 0.001,
  ).length;
  return { errors, unheard: 2 * made.said.length - errors.length, disordered };
}

/** Quantile of ascending numbers. */
export function quantile(ascending: readonly number[], part: number): number {
  return ascending[Math.floor(part * (ascending.length - 1))] ?? 0;
}

/** Turns in the form that error rates compare. */
export function named(turns: readonly { speaker: number; start: number; end: number }[]): TrueTurn[] {
  return turns.map(({ speaker, start, end }) => ({ speaker: String(speaker), start, end }));
}
