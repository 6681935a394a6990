import bidiFactory from 'bidi-js';
import LineBreaker from 'linebreak';
import type { Span } from './blocks.ts';
import { type Fonts, MISSING, type Piece, type Weight } from './fonts.ts';

/** Text of one font, colour and direction. */
export interface Run {
  /** In the order in which glyphs are drawn: see `shown`. */
  shown: string;
  /** As written. */
  text: string;
  piece: Piece;
  weight: Weight;
  colour: string | undefined;
  /** Order or number of glyphs may differ from the letters: copying needs `text`. */
  complex: boolean;
  level: number;
}

export type Measure = (run: Run) => number;

export interface Line {
  /** From left to right, with their widths. */
  runs: (Run & { width: number })[];
  width: number;
}

const bidi = (bidiFactory as unknown as typeof bidiFactory.default)(); // a function, although its types declare a module
/** Scripts without a one-to-one mapping of letters to glyphs in order. */
const COMPLEX = /[\u0590-\u08ff\u0900-\u0dff\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u200c-\u200f\ufb1d-\ufdff\ufe70-\ufefc]/;
const RIGHT_TO_LEFT = /[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc]/;
/** Scripts without spaces, whose words are found by a dictionary. */
const UNSPACED = /[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff]/;

/** A paragraph with properties of each UTF-16 unit. */
export interface Prepared {
  text: string;
  levels: Uint8Array;
  pieces: readonly Piece[];
  /** Units without a glyph in any font. */
  missing: ReadonlySet<number>;
  spans: readonly Span[];
}

/** Determines fonts and directions of a paragraph. */
export function prepare(spans: readonly Span[], fonts: Fonts, backwards: boolean): Prepared {
  const text = spans.map((span) => span.text).join('');
  const { levels } = bidi.getEmbeddingLevels(text, backwards ? 'rtl' : 'ltr');
  const pieces: Piece[] = [];
  const missing = new Set<number>();
  let before: Piece | null = null;
  for (const character of text) {
    const found: Piece | null = fonts.find(character.codePointAt(0)!, before);
    if (!found) missing.add(pieces.length);
    before = found ?? fonts.find(MISSING.codePointAt(0)!, null)!;
    for (let i = 0; i < character.length; i++) pieces.push(before);
  }
  return { text, levels, pieces, missing, spans: spans.flatMap((span) => Array.from<Span>({ length: span.text.length }).fill(span)) };
}

/** Breaks a paragraph into lines of at most `width`. */
export function linesOf(prepared: Prepared, width: number, measure: Measure): Line[] {
  const widthOf = (from: number, to: number) => runsOf(prepared, from, to).reduce((sum, run) => sum + measure(run), 0);
  const lines: Line[] = [];
  let [start, used] = [0, 0];
  const end = (to: number) => {
    lines.push(lineOf(prepared, start, to, measure));
    [start, used] = [to, 0];
  };
  for (const [from, to] of wordsOf(prepared.text)) {
    const bare = from + prepared.text.slice(from, to).trimEnd().length;
    const needed = widthOf(from, bare);
    if (used > 0 && used + needed > width) end(from);
    if (needed > width) {
      for (const [at, next] of graphemesOf(prepared.text, from, bare)) {
        const more = widthOf(at, next);
        if (used > 0 && used + more > width) end(at);
        used += more;
      }
    } else used += needed;
    used += widthOf(bare, to);
  }
  if (start < prepared.text.length || !lines.length) end(prepared.text.length);
  return lines;
}

/** Pieces between which a line may break, with the spaces after them. */
function wordsOf(text: string): [number, number][] {
  const stops: number[] = [];
  const breaker = new LineBreaker(text);
  for (let stop = breaker.nextBreak(); stop; stop = breaker.nextBreak()) stops.push(stop.position);
  if (UNSPACED.test(text)) {
    for (const { segment, index } of words.segment(text))
      if (index > 0 && UNSPACED.test(segment) && UNSPACED.test(text[index - 1]!)) stops.push(index);
    stops.sort((a, b) => a - b);
  }
  const distinct = [...new Set(stops)].filter((stop) => stop > 0);
  return distinct.map((stop, index) => [distinct[index - 1] ?? 0, stop]);
}

const words = new Intl.Segmenter('th', { granularity: 'word' });
const graphemes = new Intl.Segmenter('en', { granularity: 'grapheme' });

function graphemesOf(text: string, from: number, to: number): [number, number][] {
  return Array.from(graphemes.segment(text.slice(from, to)), ({ index, segment }) => [from + index, from + index + segment.length]);
}

function lineOf(prepared: Prepared, from: number, to: number, measure: Measure): Line {
  const bare = from + prepared.text.slice(from, to).trimEnd().length;
  const runs = visual(runsOf(prepared, from, bare)).map((run) => ({ ...run, width: measure(run) }));
  return { runs, width: runs.reduce((sum, run) => sum + run.width, 0) };
}

/** The runs of a part of a paragraph, in logical order. Words of complex scripts are separate runs, so that they can be copied. */
function runsOf({ text, levels, pieces, missing, spans }: Prepared, from: number, to: number): Run[] {
  const runs: Run[] = [];
  for (let at = from; at < to; ) {
    let next = at + 1;
    const space = text[at] === ' ';
    const lost = missing.has(at);
    while (
      next < to &&
      levels[next] === levels[at] &&
      pieces[next] === pieces[at] &&
      spans[next] === spans[at] &&
      (lost ? !missing.has(next) && isLow(text, next) : !missing.has(next)) &&
      (levels[at]! % 2 === 0 && !COMPLEX.test(text[at]!) && !COMPLEX.test(text[next]!) ? true : (text[next] === ' ') === space)
    )
      next++;
    const written = text.slice(at, next);
    const level = levels[at]!;
    runs.push({
      shown: lost ? MISSING : shown(written, level),
      text: written,
      piece: pieces[at]!,
      weight: spans[at]!.bold ? 'bold' : 'regular',
      colour: spans[at]!.colour,
      complex: lost || level % 2 === 1 || COMPLEX.test(written),
      level,
    });
    at = next;
  }
  return runs;
}

function isLow(text: string, at: number): boolean {
  return (text.charCodeAt(at) & 0xfc00) === 0xdc00;
}

/** Input of the shaper: it reverses right-to-left scripts itself; marks and other letters among them are reversed here. */
function shown(text: string, level: number): string {
  if (level % 2 === 0 || RIGHT_TO_LEFT.test(text)) return text;
  return [...text]
    .reverse()
    .map((character) => bidi.getMirroredCharacter(character) ?? character)
    .join('');
}

/** Runs in visual order: rule L2 of the bidirectional algorithm. */
function visual(runs: Run[]): Run[] {
  const ordered = [...runs];
  const highest = Math.max(0, ...ordered.map(({ level }) => level));
  for (let level = highest; level > 0; level--) {
    for (let at = 0; at < ordered.length; at++) {
      let next = at;
      while (next < ordered.length && ordered[next]!.level >= level) next++;
      if (next > at + 1) ordered.splice(at, next - at, ...ordered.slice(at, next).reverse());
      at = Math.max(at, next);
    }
  }
  return ordered;
}
