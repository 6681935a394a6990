import type { Span } from '../../../types.ts';
import type { Spoken } from '../../recogniser.ts';
import { SPACELESS } from '../../scripts.ts';
import { type Facts, WINDOW_STEPS } from '../model.ts';
import { LONGEST_WORD_SECONDS } from '../thresholds.ts';
import type { Tokenizer } from '../tokenizer.ts';
import { beginnings } from './dtw.ts';
import { attendedRun, type Range } from './attended-run.ts';

export type { Spoken };

/** The result of decoding one window. */
export interface Decoded {
  tokens: readonly number[];
  /** Log-probability of every token. */
  logProbs: readonly number[];
  /** Attention [heads x frames] of every token and of end-of-text, which bounds the last word; see `AttentionStore`. */
  attention: readonly Uint8Array[];
}

/** Languages written without spaces between words. */
export const WITHOUT_SPACES = new Set(['zh', 'ja', 'yue', 'th', 'lo', 'my', 'km', 'bo']);

/**
 * The words of a window with their times, ordered and without overlap. Only frames with speech are aligned, so that no word begins, ends or
 * lies in a pause; a word across a pause keeps one part (see `attendedRun`), and a word adjacent to the other gets that.
 * @param speech spans in seconds of the window
 * @param seconds the window's actual length
 */
export function toWords(
  decoded: Decoded,
  language: string,
  speech: readonly Span[],
  seconds: number,
  facts: Facts,
  tokenizer: Tokenizer,
): Spoken[] {
  const { tokens, logProbs, attention } = decoded;
  const text = tokens.flatMap((token, i) => (token < facts.endOfText ? [i] : []));
  const spaces = !WITHOUT_SPACES.has(language);
  const starts = new Set(text.flatMap((i, k) => (i > 0 && tokens[i - 1]! >= facts.firstTimestamp ? [k] : [])));
  const groups = group(
    text.map((i) => tokens[i]!),
    spaces,
    tokenizer,
    starts,
  );
  if (groups.length === 0) return [];
  if (lacksSpace('', groups[0]!.text, spaces)) groups[0]!.text = ` ${groups[0]!.text}`;
  const rows = (attention.length > tokens.length ? [...text, tokens.length] : text).map((i) => attention[i]!);
  const { tick } = facts;
  const frames = framesOf(speech, seconds, rows.length, tick);
  const begin = beginnings(rows, facts.alignmentHeads, frames);
  const words: Omit<Spoken, keyof Span>[] = [];
  const ranges: Range[] = [];
  const own: [first: number, end: number][] = []; // rows of each word
  let k = 0;
  for (const [g, { text: word, count, blank }] of groups.entries()) {
    const next = k + count + (groups[g + 1]?.blank ?? 0);
    const first = begin[k + blank]!; // a space has no sound: it neither begins its word nor says how sure the model is of it
    ranges.push({ first, end: Math.max(first + 1, next < begin.length ? begin[next]! : frames.length) });
    const probability = text.slice(k + blank, k + count).reduce((sum, i) => sum + Math.exp(logProbs[i]!), 0) / (count - blank);
    words.push({ text: word, probability });
    own.push([k + blank, k + count]);
    k += count;
  }
  const choose = (runs: Range[], i: number) =>
    attendedRun(runs, rows.slice(...own[i]!), facts.alignmentHeads, frames, tick, i === 0 ? 0 : LONGEST_WORD_SECONDS);
  return withoutPauses(ranges, frames, choose).map(({ first, end }, i) => {
    const last = Math.min(frames.length, Math.max(first + 1, end)) - 1;
    return { ...words[i]!, start: Math.min(seconds, frames[first]! * tick), end: Math.min(seconds, (frames[last]! + 1) * tick) };
  });
}

/** Frames with speech; all frames of the window if those are too few for the tokens. */
function framesOf(speech: readonly Span[], seconds: number, tokens: number, tick: number): Int32Array {
  const count = Math.max(1, Math.min(WINDOW_STEPS, Math.round(seconds / tick)));
  const all = Int32Array.from({ length: count }, (_, i) => i);
  const heard = all.filter((i) => speech.some(({ start, end }) => i >= Math.round(start / tick) && i < Math.round(end / tick)));
  return heard.length > tokens ? heard : all;
}

/** Keeps the run between pauses that `choose` takes for each word; frames cut off next to a neighbour go to it. */
function withoutPauses(ranges: readonly Range[], frames: Int32Array, choose: (runs: Range[], word: number) => Range): Range[] {
  const kept = ranges.map((range, i) => choose(runs(range, frames), i));
  ranges.forEach(({ first, end }, i) => {
    const [own, before, after] = [kept[i]!, kept[i - 1], kept[i + 1]];
    const parts = runs({ first, end }, frames);
    if (own.first > first && before?.end === first && adjacent(frames, first)) before.end = parts[0]!.end;
    if (own.end < end && after?.first === end && adjacent(frames, end)) after.first = parts.at(-1)!.first;
  });
  return kept;
}

/** The parts of a range between pauses. */
function runs({ first, end }: Range, frames: Int32Array): Range[] {
  const found: Range[] = [{ first, end: Math.min(first + 1, end) }];
  for (let i = first + 1; i < Math.min(end, frames.length); i++) {
    if (adjacent(frames, i)) found.at(-1)!.end = i + 1;
    else found.push({ first: i, end: i + 1 });
  }
  return found;
}

/** Whether there is no pause before frame `i`. */
function adjacent(frames: Int32Array, i: number): boolean {
  return i < frames.length && frames[i]! - frames[i - 1]! === 1;
}

const PUNCTUATION = /^[\p{P}\p{S}]+$/u;
const OPENING_PUNCTUATION = /[\p{Ps}\p{Pi}]$/u;
const BEGINS_WORD = /^[\p{L}\p{N}\p{Ps}\p{Pi}]/u;
const ENDING_PUNCTUATION = /^[,;:!?؛،؟۔।॥։።፣]+$/; // even after a space, as in French and Hindi
const WITH_SPACES = `(?![${SPACELESS}])[\\p{L}\\p{M}\\p{N}.,'’-]`; // a character of a name or a number, in text without spaces
const BEGINS_WITH_SPACES = new RegExp(`^${WITH_SPACES}`, 'u');
const ENDS_WITH_SPACES = new RegExp(`${WITH_SPACES}$`, 'u');

/** The tokens of one word. */
interface Group {
  text: string;
  /** Number of tokens, and how many of them, the first, are only a space: many scripts have no token for a space with a letter. */
  count: number;
  blank: number;
}

/**
 * Groups tokens into whole characters, and those into words; punctuation belongs to its word, and so does the space before it.
 * @param starts first tokens of segments
 */
export function group(tokens: readonly number[], spaces: boolean, tokenizer: Tokenizer, starts: ReadonlySet<number> = new Set()): Group[] {
  const groups: Group[] = [];
  let at = 0;
  for (const part of characters(tokens, tokenizer)) {
    const before = groups.at(-1);
    if (before && !spaces && starts.has(at) && lacksSpace(before.text, part.text, spaces)) part.text = ` ${part.text}`;
    at += part.count;
    if (before && joins(before.text, part.text, spaces)) append(before, part);
    else groups.push({ ...part, blank: 0 });
    if (ENDING_PUNCTUATION.test(groups.at(-1)!.text.trim())) appendLast(groups);
  }
  const last = groups.at(-1);
  if (last && (isEmpty(last.text) || opens(last.text))) appendLast(groups);
  return groups.filter(({ text }) => !isEmpty(text)).map((found) => ({ ...found, text: found.text.trimEnd() }));
}

/** Joins the last group to the one before it, if there is one. */
function appendLast(groups: Group[]): void {
  const before = groups.at(-2);
  if (before) append(before, groups.pop()!);
}

function append(group: Group, { text, count }: Pick<Group, 'text' | 'count'>): void {
  const isSpace = group.text !== '' && isEmpty(group.text);
  if (isSpace) group.blank = group.count;
  group.text = isSpace && text.startsWith(' ') ? text : group.text + text;
  group.count += count;
}

function isEmpty(text: string): boolean {
  return text.trim() === '';
}

const UNWRITTEN = /[\ufffd\u202a-\u202e\u2066-\u2069]/g; // stray bytes, as written by uncertain models, and directions of text, as in captions

/** The shortest runs of tokens that form whole characters. What is not to be written is left out. */
function* characters(tokens: readonly number[], tokenizer: Tokenizer): Generator<{ text: string; count: number }> {
  let held: number[] = [];
  for (const token of tokens) {
    held.push(token);
    const text = tokenizer.decode(held);
    if (text.endsWith('\ufffd')) continue; // only the last character may still become complete
    yield { text: text.replaceAll(UNWRITTEN, ''), count: held.length };
    held = [];
  }
  if (held.length) yield { text: tokenizer.decode(held).replaceAll(UNWRITTEN, ''), count: held.length };
}

/**
 * Whether the text of a window, or of a segment in languages without spaces, needs a space before it: a word in letters that have spaces, or a
 * number after such a word or number. A window may not begin with a space that is a token of its own, and in languages without spaces the
 * model seldom begins a segment with one: "the firemanI tell thee". In others a segment that begins without one continues a word.
 */
function lacksSpace(before: string, text: string, spaces: boolean): boolean {
  if (spaces) return BEGINS_WORD.test(text);
  return BEGINS_WITH_SPACES.test(text) && (/^\p{L}/u.test(text) || ENDS_WITH_SPACES.test(before));
}

/** Whether a text belongs to the next word, like a bracket or a quotation mark after a space. */
function opens(text: string): boolean {
  const bare = text.trim();
  return PUNCTUATION.test(bare) && !ENDING_PUNCTUATION.test(bare) && (text.startsWith(' ') || OPENING_PUNCTUATION.test(text.trimEnd()));
}

function joins(before: string, text: string, spaces: boolean): boolean {
  const bare = text.trim();
  if (!text || isEmpty(before) || opens(before) || /^\p{M}/u.test(bare)) return true;
  if (PUNCTUATION.test(bare)) return !opens(text);
  if (!bare || text.startsWith(' ')) return false;
  return spaces || (ENDS_WITH_SPACES.test(before) && BEGINS_WITH_SPACES.test(bare));
}
