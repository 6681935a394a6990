import { setImmediate as pause } from 'node:timers/promises';
import { breakCost, LINE_COLUMNS } from './lines.ts';
import { type Spoken, spokenWords, type Talk } from './spoken.ts';

/** One subtitle. Times are whole milliseconds. */
export interface Cue {
  start: number;
  end: number;
  /** At most two: of one speaker, or one each for two who overlap. */
  lines: CueLine[];
}

export interface CueLine {
  speaker: string | null;
  /** Whether the speaker differs from the previous line's. */
  change: boolean;
  text: string;
}

const LONGEST_MS = 7_000;
const SHORTEST_MS = 1_000; // minimum duration, extended where the next subtitle leaves room
const LINGER_MS = 300; // how long a subtitle stays after its last word
const STRETCH = 2_000; // words to process before yielding to the event loop
const PAUSE_MS = 400; // noticeable pause
const COLUMNS_PER_SECOND = 20; // reading speed
const FORCED = 1_000; // cost of a cut within a word: only if there is no alternative

/** Layout of a single piece in any case: a line that is too wide is better than no subtitles. */
const WIDE = { split: null, cost: 0 };

/** Marks of speaker changes, as far as line breaking needs them. */
export interface Marks {
  /** Columns taken by the mark of a speaker change. */
  width(speaker: string | null): number;
}

/**
 * Cuts a transcript into subtitles of at most two lines of 42 columns and 7 seconds, by dynamic programming over each passage; cuts and
 * line breaks are cheap at pauses and ends of phrases. Words stay within their subtitle's time and subtitles never overlap, so overlapping
 * words share one.
 */
export async function toCues(talk: Talk, marks: Marks): Promise<Cue[]> {
  const words = spokenWords(talk);
  const cues: Cue[] = [];
  for (let from = 0; from < words.length; ) {
    let to = from + 1;
    while (to < words.length && !parted(words, from, to)) to++;
    cues.push(...cutStretch(words.slice(from, to), marks));
    from = to;
    await pause();
  }
  markChanges(cues);
  return settleTimes(cues, talk.durationSeconds);
}

/** Whether the passage from `from` may end before word `to`: after a long silence; once it is long, at any change of turn. */
function parted(words: readonly Spoken[], from: number, to: number): boolean {
  const silence = words[to]!.start - words[to - 1]!.reach;
  return silence >= LONGEST_MS || (to - from >= STRETCH && silence >= 0 && words[to]!.turn !== words[to - 1]!.turn);
}

/** The cheapest partition of consecutive words, computed backwards. */
function cutStretch(words: readonly Spoken[], marks: Marks): Cue[] {
  const cost = new Float64Array(words.length + 1);
  const ends = new Int32Array(words.length);
  const splits: (number | null)[] = [];
  for (let i = words.length - 1; i >= 0; i--) {
    cost[i] = Number.POSITIVE_INFINITY;
    for (let j = i + 1; j <= words.length; j++) {
      const alone = j === i + 1;
      if (!alone && span(words, i, j) > LONGEST_MS) break;
      const layout = layOut(words, i, j, marks) ?? (alone ? WIDE : null);
      if (!layout) break;
      const total = layout.cost + cueCost(words, i, j) + cost[j]!;
      if (total >= cost[i]!) continue;
      cost[i] = total;
      ends[i] = j;
      splits[i] = layout.split;
    }
  }
  const cues: Cue[] = [];
  for (let i = 0; i < words.length; i = ends[i]!) {
    const [split, part] = [splits[i]!, words.slice(i, ends[i])];
    const groups = split === null ? byTurn(part) : [part.slice(0, split - i), part.slice(split - i)];
    cues.push({ start: part[0]!.start, end: part[0]!.start + span(words, i, ends[i]!), lines: groups.map(line) });
  }
  return cues;
}

/** Milliseconds from the start of word i to the latest end of words i to j. */
function span(words: readonly Spoken[], i: number, j: number): number {
  let end = 0;
  for (let k = i; k < j; k++) end = Math.max(end, words[k]!.end);
  return end - words[i]!.start;
}

/** Cost of a subtitle with words i to j: its existence, pauses inside, length, reading speed, and the cut after it. */
function cueCost(words: readonly Spoken[], i: number, j: number): number {
  let width = 0;
  let price = 1.2;
  for (let k = i; k < j; k++) {
    width += words[k]!.columns;
    if (k > i) price += Math.max(0, words[k]!.start - words[k - 1]!.reach - PAUSE_MS) / 400;
  }
  const after = words[j];
  const spoken = span(words, i, j);
  const shown = Math.min(Math.max(spoken + LINGER_MS, SHORTEST_MS), after ? after.start - words[i]!.start : LONGEST_MS) / 1000;
  if (shown < 1) price += 2 * (1 - shown);
  price += Math.max(0, width / Math.max(shown, 0.2) - COLUMNS_PER_SECOND) / COLUMNS_PER_SECOND;
  if (!after) return price;
  const silence = after.start - words[i]!.start - spoken;
  if (silence < 0 || after.start <= words[i]!.start) return price + FORCED;
  if (after.turn !== words[j - 1]!.turn) return price;
  return price + Math.min(breakBefore(words, j), 30) * (silence >= PAUSE_MS ? 0.4 : 1.6);
}

/**
 * Lays out words i to j in at most two lines, with the cost of the break before word `split`; null if they do not fit. Two overlapping
 * speakers get a line each: `split` is then null, as for a single line.
 */
function layOut(words: readonly Spoken[], i: number, j: number, marks: Marks): { split: number | null; cost: number } | null {
  const { turn, speaker } = words[i]!;
  let total = 0;
  let single = true;
  for (let k = i; k < j; k++) {
    total += words[k]!.columns;
    single &&= words[k]!.turn === turn;
  }
  if (!single) {
    if (total > 2 * LINE_COLUMNS + 2) return null;
    const turns = byTurn(words.slice(i, j));
    const fit = turns.every((part) => sum(part) + marks.width(part[0]!.speaker) <= LINE_COLUMNS);
    return turns.length === 2 && fit ? { split: null, cost: 0.8 } : null;
  }
  const room = LINE_COLUMNS - marks.width(speaker);
  if (total - lead(words[i]!) <= room) return { split: null, cost: 0 };
  let best: { split: number; cost: number } | null = null;
  let above = -lead(words[i]!);
  for (let k = i + 1; k < j; k++) {
    above += words[k - 1]!.columns;
    const below = total - lead(words[i]!) - above - lead(words[k]!);
    if (above > room) break;
    if (below > room) continue;
    const cost = Math.min(breakBefore(words, k), 20) * 0.8 + Math.abs(above - below) / LINE_COLUMNS;
    if (!best || cost < best.cost) best = { split: k, cost };
  }
  return best;
}

function byTurn(words: readonly Spoken[]): Spoken[][] {
  return [...new Set(words.map((word) => word.turn))].map((turn) => words.filter((word) => word.turn === turn));
}

function sum(words: readonly Spoken[]): number {
  return words.reduce((width, word) => width + word.columns, -lead(words[0]!));
}

/** Columns saved when a word starts a line. */
function lead(word: Spoken): number {
  return word.text.startsWith(' ') ? 1 : 0;
}

function breakBefore(words: readonly Spoken[], k: number): number {
  const word = words[k]!;
  word.breakCost ??= breakCost(words[k - 1]!.text, word.text);
  return word.breakCost;
}

function line(words: readonly Spoken[]): CueLine {
  const text = words
    .map((word) => word.text)
    .join('')
    .trim()
    .replace(/ +/g, ' ');
  return { speaker: words[0]!.speaker, change: false, text };
}

function markChanges(cues: readonly Cue[]): void {
  let last: string | null | undefined;
  for (const current of cues.flatMap((cue) => cue.lines)) {
    current.change = current.speaker !== last;
    last = current.speaker;
  }
}

/** Extends short subtitles where there is room, but not into the next one, past the maximum, or past the recording. */
function settleTimes(cues: Cue[], durationSeconds: number | null): Cue[] {
  const last = durationSeconds === null ? Number.POSITIVE_INFINITY : Math.round(durationSeconds * 1000);
  let free = 0;
  for (const [index, cue] of cues.entries()) {
    cue.start = Math.max(cue.start, free);
    const next = Math.max(cues[index + 1]?.start ?? Number.POSITIVE_INFINITY, cue.start + 1);
    const spoken = Math.max(cue.end, cue.start + 1);
    const wanted = Math.min(Math.max(cue.end + LINGER_MS, cue.start + SHORTEST_MS), Math.max(last, spoken));
    cue.end = Math.min(wanted, next, cue.start + LONGEST_MS);
    free = cue.end;
  }
  return cues;
}
