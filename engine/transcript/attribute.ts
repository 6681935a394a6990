import type { Turn, Word } from '../types.ts';

/** A word with its speaker; null if nobody is speaking near it. */
export interface SaidWord extends Word {
  speaker: number | null;
}

const MAX_TURN_DISTANCE_SECONDS = 0.5; // seconds: a word outside every turn is assigned to the nearest turn within this distance
const MAX_WORD_GAP_SECONDS = 0.6; // seconds: a single word closer than this to its neighbours is part of their sentence
const MIN_OWN_TURN_SHARE = 0.4; // unless its own turn covers at least this share of it and stands alone
const INTERJECTION = { words: 2, seconds: 1.2, share: 0.6 }; // maximum words of an interjection, maximum length of its turn (seconds), and the share of each that the other must cover
const LETTERS_PER_WORD = 3; // in scripts without spaces, where a word of the model is a token of any length; a guess
const PHRASE_END = /[\p{Po}\p{Pd}…][\p{Pf}\p{Pe}"]*\s*$/u; // end of a phrase
const APOSTROPHE = /['’]\s*$/; // exception to it

/**
 * Assigns a speaker to each word: the turn that covers most of it, else the nearest within 0.5 s, else the speaker of the previous word. A
 * single word isolated inside another speaker's sentence is assigned to that sentence, unless it is an interjection with its own turn.
 * Where two speakers overlap, words belong to the one already talking, except for a short phrase set off by punctuation that coincides with
 * a short turn of the other.
 * @param words ordered by start
 * @param turns ordered by start
 */
export function attribute(words: readonly Word[], turns: readonly Turn[]): SaidWord[] {
  const said: SaidWord[] = [];
  let first = 0; // earlier turns ended long ago
  const longest = turns.reduce((most, turn) => Math.max(most, turn.end - turn.start), 0);
  for (const word of words) {
    while (first < turns.length && turns[first]!.start + longest < word.start - MAX_TURN_DISTANCE_SECONDS) first++;
    said.push({ ...word, speaker: speakerOf(word, turns, first, said.at(-1)?.speaker ?? null) });
  }
  fillGaps(said);
  return thrownIn(rejoined(said, turns), turns);
}

/** Best turn for a word. Between two that cover it equally, the one whose speaker is already talking. */
function speakerOf(word: Word, turns: readonly Turn[], first: number, talking: number | null): number | null {
  let best: number | null = null;
  let most = Number.NEGATIVE_INFINITY;
  for (let t = first; t < turns.length && turns[t]!.start < word.end + MAX_TURN_DISTANCE_SECONDS; t++) {
    const turn = turns[t]!;
    const shared = Math.min(word.end, turn.end) - Math.max(word.start, turn.start); // negative: the distance
    if (shared < -MAX_TURN_DISTANCE_SECONDS) continue;
    const score = shared + (turn.speaker === talking ? 1e-3 : 0);
    if (score > most) [best, most] = [turn.speaker, score];
  }
  return best;
}

/** Assigns words near no turn to the speaker of the previous word, at the start of the next. */
function fillGaps(said: SaidWord[]): void {
  for (let i = 1; i < said.length; i++) said[i]!.speaker ??= said[i - 1]!.speaker;
  for (let i = said.length - 2; i >= 0; i--) said[i]!.speaker ??= said[i + 1]!.speaker;
}

/** Assigns single words between two words of the same other speaker to that speaker. */
function rejoined(said: SaidWord[], turns: readonly Turn[]): SaidWord[] {
  for (let i = 1; i + 1 < said.length; i++) {
    const [before, word, after] = [said[i - 1]!, said[i]!, said[i + 1]!];
    const inside = before.speaker === after.speaker && word.speaker !== before.speaker;
    const close = word.start - before.end < MAX_WORD_GAP_SECONDS && after.start - word.end < MAX_WORD_GAP_SECONDS;
    if (inside && close && !interjected(word, turns)) word.speaker = before.speaker;
  }
  return said;
}

/** Whether a word's speaker has a short turn around just this word. */
function interjected(word: SaidWord, turns: readonly Turn[]): boolean {
  const length = Math.max(word.end - word.start, 1e-3);
  return turns.some((turn) => {
    if (turn.speaker !== word.speaker) return false;
    const shared = Math.min(word.end, turn.end) - Math.max(word.start, turn.start);
    return shared / length >= MIN_OWN_TURN_SHARE && shared / (turn.end - turn.start) >= MIN_OWN_TURN_SHARE;
  });
}

/** Assigns short phrases that fill a short turn to its speaker: an interjection is not part of the sentence it overlaps. */
function thrownIn(said: SaidWord[], turns: readonly Turn[]): SaidWord[] {
  const short = turns.filter(({ start, end }) => end - start <= INTERJECTION.seconds);
  let first = 0; // earlier short turns are over
  for (const phrase of phrases(said)) {
    const [start, end] = [phrase[0]!.start, phrase.at(-1)!.end];
    while (first < short.length && short[first]!.start + INTERJECTION.seconds <= start) first++;
    const fit = ({ start: from, end: to }: Turn) => (Math.min(end, to) - Math.max(start, from)) / Math.max(end - start, to - from);
    let best: Turn | null = null;
    for (let t = first; t < short.length && short[t]!.start < end; t++)
      if (fit(short[t]!) >= (best ? fit(best) : INTERJECTION.share)) best = short[t]!;
    if (best) for (const word of phrase) word.speaker = best.speaker;
  }
  return said;
}

/** Runs of a few words between two punctuation marks. */
function phrases(said: readonly SaidWord[]): SaidWord[][] {
  const found: SaidWord[][] = [];
  let begin = 0;
  for (const [i, { text }] of said.entries()) {
    if (!PHRASE_END.test(text) || APOSTROPHE.test(text)) continue;
    const phrase = said.slice(begin, i + 1);
    if (wordsIn(phrase) <= INTERJECTION.words) found.push(phrase);
    begin = i + 1;
  }
  return found;
}

/** Number of words, in scripts without spaces by letters. */
function wordsIn(phrase: readonly SaidWord[]): number {
  const letters = phrase.filter(({ text }) => !text.startsWith(' ')).flatMap(({ text }) => text.match(/\p{L}/gu) ?? []);
  return phrase.filter(({ text }) => text.startsWith(' ')).length + letters.length / LETTERS_PER_WORD;
}
