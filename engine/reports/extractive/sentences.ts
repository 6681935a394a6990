import type { ReportSegment } from '../report.ts';
import type { Language } from './cues/cue.ts';
import { stem, stopwords, wordsOf } from './words.ts';

export interface Sentence {
  index: number;
  /** The segment it begins in, and the second: the segment's start, as the transcript shows it, or about the sentence's own deep in a long one. */
  segmentId: number;
  start: number;
  speaker: string;
  text: string;
  /** ` lower-case words with single spaces `, for the cues. */
  plain: string;
  words: number;
  /** Stems of the words that carry meaning. */
  terms: string[];
  question: boolean;
}

const LONGEST = 60; // words of one sentence, where a recogniser left out the punctuation
const PIECE = 30; // words of a piece that such a text is cut into
const JOIN_SECONDS = 5; // a sentence may go on in the next segment of the same speaker after a pause this long
const DEEP = 15; // seconds into a segment from which on its start is no help to find the words
const ABBREVIATED = 12; // characters before a full stop that can make it an abbreviation
const BOUNDARY = /[.!?…]+["'»”’)\]]*\s+|[。！？]+[」』”]?\s*/g;
const ABBREVIATION =
  /(?:^|[\s(])(?:[\p{L}]|mr|mrs|ms|dr|prof|sr|sra|jr|st|vs|etc|no|nr|bzw|ca|usw|inkl|evtl|ggf|str|abs|art|ej|dott|sig|ing|av|mme|m|tel|тыс|млн|руб|ул|гг|стр|т\. ?[екдп]|z\. ?b|d\. ?h|u\. ?a|p\. ?ej|i\. ?e|e\. ?g)\.$/iu;

/** The sentences of a talk in order. A sentence that two segments of one speaker share is joined and belongs to the first. */
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
  /** The segment that holds this character, and about when it was said. */
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

/** Cuts an endless sentence at commas, or anywhere between two words when there are none. */
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
