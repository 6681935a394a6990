import { columns, LINE_COLUMNS } from './lines.ts';

/** Input of subtitles: segments with word timestamps. */
export interface Talk {
  language: string | null;
  durationSeconds: number | null;
  segments: readonly TalkSegment[];
}

interface TalkSegment {
  id: number;
  start: number | null;
  end: number | null;
  speaker_id: string | null;
  text: string;
  words?: readonly { start: number; end: number; text: string }[];
}

/** An unbreakable piece of text. Times are whole milliseconds. */
export interface Spoken {
  start: number;
  end: number;
  /** Latest end of this and all earlier words. */
  reach: number;
  /** Begins with a space in languages that use them. */
  text: string;
  columns: number;
  /** Id of the segment. */
  turn: number;
  speaker: string | null;
  /** Cost of a break before it (see lines.ts), computed on first use. */
  breakCost?: number;
}

const WIDEST = LINE_COLUMNS - 20; // a wider piece would not fit into a line after the speaker's name
const LONGEST_MS = 7_000; // words that last longer have wrong timestamps and end here

/** All words, ordered by start. Without word timestamps they are spread evenly over their segment. */
export function spokenWords(talk: Talk): Spoken[] {
  const words = talk.segments
    .flatMap((segment) =>
      whole(timed(segment), talk.language)
        .flatMap(narrow)
        .map((word) => spoken(word, segment)),
    )
    .filter((word) => word.text.trim() !== '')
    .sort((a, b) => a.start - b.start || a.turn - b.turn);
  let reach = 0;
  for (const word of words) word.reach = reach = Math.max(reach, word.end);
  return words;
}

interface Piece {
  start: number;
  end: number;
  text: string;
  /** Continues the word of the previous piece. */
  inside?: boolean;
}

const INSIDE_COST = 10; // cost of a break within a word

function spoken({ start, end, text, inside }: Piece, { id, speaker_id }: TalkSegment): Spoken {
  const from = Math.max(0, Math.round(start * 1000));
  const to = Math.min(Math.max(from, Math.round(end * 1000)), from + LONGEST_MS);
  const clean = text.replace(/[\s\u0085\u2028\u2029]+/g, ' ').replace(/[\u0000-\u001f\u007f]/g, '');
  return {
    start: from,
    end: to,
    reach: to,
    text: clean,
    columns: columns(clean),
    turn: id,
    speaker: speaker_id,
    ...(inside && { breakCost: INSIDE_COST }),
  };
}

/** The words of a segment with non-decreasing times. */
function timed(segment: TalkSegment): Piece[] {
  if (!segment.words?.length) return spread(segment.text.match(/\s*\S+/g) ?? [], segment.start ?? 0, segment.end ?? segment.start ?? 0);
  let from = 0;
  const words = segment.words.map(({ start, end, text }) => {
    from = Math.max(from, start);
    return { start: from, end: Math.max(from, end), text };
  });
  return words.map((word, index) => ({ ...word, end: Math.min(word.end, words[index + 1]?.start ?? word.end) }));
}

/** Assigns times to pieces in proportion to their columns. */
function spread(texts: readonly string[], start: number, end: number): Piece[] {
  const total = texts.reduce((sum, text) => sum + columns(text), 0) || 1;
  let at = start;
  return texts.map((text) => {
    const piece = { start: at, end: at + ((end - start) * columns(text)) / total, text };
    at = piece.end;
    return piece;
  });
}

/**
 * Joins pieces of a word in languages without spaces, so that lines break between dictionary words. Words wider or longer than a subtitle
 * stay in pieces, because the pieces' times are known and times inside a joined word would be guesses. (Dictionaries treat Latin letters
 * followed by Thai ones as one word.)
 */
function whole(pieces: readonly Piece[], language: string | null): Piece[] {
  if (pieces.every((piece) => /^\s/.test(piece.text))) return [...pieces];
  const text = pieces.map((piece) => piece.text).join('');
  const boundaries = new Set(Array.from(segmenter(language, 'word').segment(text), ({ index }) => index));
  const characters = segmenter(null, 'grapheme').segment(text);
  const words: Piece[] = [];
  let offset = 0;
  for (const piece of pieces) {
    const last = words.at(-1);
    const inside = last !== undefined && !boundaries.has(offset) && !/^\s/.test(piece.text);
    if (inside && (holds(last, piece) || characters.containing(offset)?.index !== offset)) {
      last.text += piece.text;
      last.end = piece.end;
    } else words.push({ ...piece, inside });
    offset += piece.text.length;
  }
  return words;
}

/** Whether two pieces together are narrow and short enough. */
function holds(word: Piece, more: Piece): boolean {
  return columns(word.text) + columns(more.text) <= WIDEST && (more.end - word.start) * 1000 <= LONGEST_MS;
}

/** Splits text wider than a line at grapheme boundaries, and graphemes wider than a line, such as many joined emoji, within. */
function narrow(piece: Piece): Piece[] {
  if (columns(piece.text) <= WIDEST) return [piece];
  const parts: string[] = [];
  for (const { segment } of segmenter(null, 'grapheme').segment(piece.text)) {
    for (const unit of columns(segment) > WIDEST ? segment : [segment]) {
      const last = parts.at(-1);
      if (last !== undefined && columns(last + unit) <= WIDEST) parts[parts.length - 1] = last + unit;
      else parts.push(unit);
    }
  }
  return spread(parts, piece.start, piece.end).map((part, index) => ({ ...part, inside: index > 0 || piece.inside === true }));
}

const segmenters = new Map<string, Intl.Segmenter>();

function segmenter(language: string | null, granularity: 'word' | 'grapheme'): Intl.Segmenter {
  const key = `${language}/${granularity}`;
  const known = segmenters.get(key);
  if (known) return known;
  const made = new Intl.Segmenter(language && Intl.Segmenter.supportedLocalesOf(language).length ? language : 'en', { granularity });
  segmenters.set(key, made);
  return made;
}
