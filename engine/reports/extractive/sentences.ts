import type { ReportSegment } from '../report.ts';
import type { Language } from './cues/cue.ts';
import { stem, stopwords, wordsOf } from './words.ts';

export interface Sentence {
  index: number;
  /**
   * The segment in which it begins, and the time: the segment's start, as shown in the transcript, or an estimate for sentences far into a
   * long one.
   */
  segmentId: number;
  start: number;
  speaker: string;
  text: string;
  /** ` lower-case words with single spaces `, for matching cues. */
  plain: string;
  words: number;
  /** Stems of the content words. */
  terms: string[];
  question: boolean;
}

const LONGEST = 60; // words per sentence, in text without punctuation
const PIECE = 30; // words per piece that such text is cut into
const JOIN_SECONDS = 5; // maximum pause after which a sentence may continue in the next segment of the same speaker
const DEEP = 15; // seconds into a segment from which on its start is too far away to find the words
const ABBREVIATED = 12; // maximum characters before a full stop for an abbreviation
const BOUNDARY = /[.!?…]+["'»”’)\]]*\s+|[。！？]+[」』”]?\s*/g;
const ABBREVIATION =
  /(?:^|[\s(])(?:[\p{L}]|mr|mrs|ms|dr|prof|sr|sra|jr|st|vs|etc|no|nr|bzw|ca|usw|inkl|evtl|ggf|str|abs|art|ej|dott|sig|ing|av|mme|m|tel|тыс|млн|руб|ул|гг|стр|т\. ?[екдп]|z\. ?b|d\. ?h|u\. ?a|p\. ?ej|i\. ?e|e\. ?g)\.$/iu;

/** The sentences of a conversation in order. A sentence that spans two segments of one speaker is joined and assigned to the first. */
export function sentencesOf(segments: readonly ReportSegment[], language: Language | null, questions: RegExp | null): Sentence[] {
  const stop = stopwords(language);
  const found: Sentence[] = [];
  for (const run of runsOf(segments)) {
    for (const piece of split(run.text, language)) {
      const { segment, start } = run.at(piece.offset);
      const words = wordsOf(piece.text, language?.elision);
      if (words.length === 0) continue;
      const plain = ` ${words.join(' ')} `;
      found.push({
        index: found.length,
        segmentId: segment.id,
        start,
        speaker: segment.speaker,
        text: piece.text,
        plain,
        words: words.length,
        terms: words
          .filter((word) => !stop.has(word) && (word.length > 2 || !/^[\p{Script=Latin}\p{Script=Cyrillic}'$€£%]+$/u.test(word)))
          .map(stem),
        question: /[?？؟]["'»”’)\]]*$/.test(piece.text) || (questions?.test(plain) === true && !/[.!。…]$/.test(piece.text)),
      });
    }
  }
  return found;
}

interface Run {
  text: string;
  /** The segment that contains this character, and the estimated time. */
  at(offset: number): { segment: ReportSegment; start: number };
}

function runsOf(segments: readonly ReportSegment[]): Run[] {
  const runs: Run[] = [];
  let held: ReportSegment[] = [];
  const flush = () => {
    if (held.length > 0) runs.push(runOf(held));
    held = [];
  };
  for (const segment of segments) {
    if (segment.text.trim() === '') continue;
    const last = held.at(-1);
    if (
      last !== undefined &&
      (last.speaker !== segment.speaker || segment.start - last.end > JOIN_SECONDS || /[.!?…。！？]["'»”’)]*\s*$/.test(last.text))
    )
      flush();
    held.push(segment);
  }
  flush();
  return runs;
}

function runOf(segments: ReportSegment[]): Run {
  const starts: number[] = [];
  let text = '';
  for (const segment of segments) {
    if (text !== '') text += ' ';
    starts.push(text.length);
    text += segment.text.trim().replace(/\s+/g, ' ');
  }
  return {
    text,
    at: (offset) => {
      const index = Math.max(
        0,
        starts.findLastIndex((start) => start <= offset),
      );
      const segment = segments[index]!;
      const into = ((offset - starts[index]!) / segment.text.length) * (segment.end - segment.start);
      return { segment, start: into > DEEP ? segment.start + into : segment.start };
    },
  };
}

interface Piece {
  text: string;
  /** Characters from the start of the run. */
  offset: number;
}

function split(text: string, language: Language | null): Piece[] {
  const pieces: Piece[] = [];
  let from = 0;
  for (const match of text.matchAll(BOUNDARY)) {
    const end = match.index + match[0].length;
    const before = text.slice(Math.max(from, match.index - ABBREVIATED), match.index + 1);
    if (match[0].trimEnd() === '.' && (ABBREVIATION.test(before) || (language?.ordinals && /(?:^|\s)\d{1,2}\.$/.test(before)))) continue;
    pieces.push({ text: text.slice(from, end).trim(), offset: from });
    from = end;
  }
  if (from < text.length) pieces.push({ text: text.slice(from).trim(), offset: from });
  return pieces.flatMap(cut);
}

/** Cuts an overlong sentence at commas, or between words if there are none. */
function cut(piece: Piece): Piece[] {
  const words = [...piece.text.matchAll(/\S+/g)];
  if (words.length <= LONGEST) return [piece];
  const pieces: Piece[] = [];
  let from = 0;
  for (let word = 0; word < words.length; word++) {
    const held = word - from + 1;
    const last = word === words.length - 1;
    if (!last && !(held >= PIECE / 2 && words[word]![0].endsWith(',')) && held < PIECE) continue;
    const start = words[from]!.index;
    pieces.push({ text: piece.text.slice(start, words[word]!.index + words[word]![0].length), offset: piece.offset + start });
    from = word + 1;
  }
  return pieces;
}
