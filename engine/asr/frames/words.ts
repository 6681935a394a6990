import type { Spoken } from '../recogniser.ts';
import { SPACELESS } from '../scripts.ts';
import type { Piece } from './pieces.ts';

/** A token with the frames of the encoder, [first, end), in which it was written. */
export interface Emission {
  token: number;
  first: number;
  end: number;
  logProb: number;
}

const MARK = /^[\p{P}\p{S}]+$/u;
const BEGINS_WORD = /^[\p{L}\p{N}]/u;
const WIDE = '\\u3000-\\u303f\\uff00-\\uffef'; // marks of these scripts
const BEGINS_SPACELESS = new RegExp(`^[${SPACELESS}${WIDE}]`, 'u');
const ENDS_SPACELESS = new RegExp(`[${SPACELESS}${WIDE}]$`, 'u');
const FLOWING = 0.3; // seconds: a word reaches to the next one if that begins sooner, since tokens are written as short peaks inside a word,
const BEFORE = 0.04; // else it begins this much before its first peak
const AFTER = 0.16; // and ends this much after its last
const SHORTEST = 0.02; // seconds, for tokens written in the same frame

/**
 * The words of a window with their times in seconds of it: ordered, without overlap. Each begins with a space, except in scripts without
 * spaces, in which every piece is a word. Punctuation belongs to the word before it.
 * @param seconds the window's length
 */
export function toWords(emissions: readonly Emission[], pieces: readonly Piece[], secondsPerFrame: number, seconds: number): Spoken[] {
  const parts = grouped(emissions, pieces);
  const starts: number[] = [];
  for (const { first } of parts) starts.push(Math.max(first * secondsPerFrame, (starts.at(-1) ?? -1) + SHORTEST));
  const words = parts.map(({ text, end, probability }, i) => ({
    text,
    start: Math.min(seconds, starts[i]!),
    end: Math.min(seconds, Math.max(starts[i]! + SHORTEST, end * secondsPerFrame)),
    probability,
  }));
  for (const [i, word] of words.entries()) {
    const next = words[i + 1];
    if (i === 0) word.start = Math.max(0, word.start - BEFORE);
    if (!next) {
      word.end = Math.min(seconds, word.end + AFTER);
    } else if (next.start - word.end <= FLOWING) {
      word.end = next.start;
    } else {
      word.end += AFTER;
      next.start -= BEFORE;
    }
  }
  return words;
}

interface Part {
  text: string;
  first: number;
  end: number;
  probability: number;
}

/** Emissions as words. */
function grouped(emissions: readonly Emission[], pieces: readonly Piece[]): Part[] {
  const groups: Emission[][] = [];
  let before = ''; // text of the latest piece; empty for a byte
  for (const emission of emissions) {
    const piece = pieces[emission.token];
    if (!piece) continue;
    const text = 'text' in piece ? piece.text : '';
    if (groups.length && !begins(text, before)) groups.at(-1)!.push(emission);
    else groups.push([emission]);
    before = text;
  }
  const parts: Part[] = [];
  for (const group of groups) {
    const raw = textOf(group, pieces);
    const text = raw.trim();
    if (!text) continue;
    const before = parts.at(-1);
    const apart = before ? raw.startsWith(' ') : !BEGINS_SPACELESS.test(text); // a window begins with a word, whatever its first piece
    const spaced = apart ? ` ${text}` : text;
    if (before && (MARK.test(text) || MARK.test(before.text.trim()))) {
      before.text += spaced;
      before.end = MARK.test(text) ? before.end : group.at(-1)!.end;
    } else parts.push({ text: spaced, ...spanOf(group, pieces) });
  }
  return parts;
}

/** Whether a piece begins a word: with a space, or after or with a letter of a script without spaces. */
function begins(text: string, before: string): boolean {
  if (text.startsWith(' ')) return true;
  const parted = BEGINS_SPACELESS.test(text) || ENDS_SPACELESS.test(before);
  return parted && before.trim() !== '' && BEGINS_WORD.test(text);
}

/** Frames of a word without the space before it, and the mean probability of its tokens. */
function spanOf(group: readonly Emission[], pieces: readonly Piece[]): Omit<Part, 'text'> {
  const sounding = group.filter(({ token }) => isSounding(pieces[token]));
  const [first, last] = [sounding[0] ?? group[0]!, sounding.at(-1) ?? group.at(-1)!];
  const probability = group.reduce((sum, { logProb }) => sum + Math.exp(logProb), 0) / group.length;
  return { first: first.first, end: last.end, probability };
}

/** Whether a piece has a sound of its own: neither a space alone nor punctuation. */
function isSounding(piece: Piece | undefined): boolean {
  return piece ? 'byte' in piece || (piece.text.trim() !== '' && !MARK.test(piece.text.trim())) : false;
}

/** The text of tokens; consecutive bytes form characters, damaged ones are left out. */
function textOf(group: readonly Emission[], pieces: readonly Piece[]): string {
  let [text, bytes] = ['', [] as number[]];
  const flush = () => {
    if (bytes.length) text += Buffer.from(bytes).toString('utf8').replaceAll('\ufffd', '');
    bytes = [];
  };
  for (const { token } of group) {
    const piece = pieces[token]!;
    if ('byte' in piece) bytes.push(piece.byte);
    else {
      flush();
      text += piece.text;
    }
  }
  flush();
  return text;
}
