import type { Turn, Word } from '../types.ts';

/** A word with the speaker who said it; null when nobody was speaking near it. */
export interface SaidWord extends Word {
  speaker: number | null;
}

const NEAR = 0.5; // seconds: a word outside every turn belongs to the nearest one within this
const STRANDED = 0.6; // seconds: a lone word that follows its neighbours closer than this is part of their sentence …
const OWN = 0.4; // … unless a turn of its own covers at least this share of it and stands alone

/**
 * Says who spoke each word: the turn that covers most of it, else the nearest within 0.5 s, else the speaker of the word before.
 * A single word stranded inside another's sentence joins it; a real interjection, a turn of its own, stays.
 * @param words in order of their starts
 * @param turns in order of their starts
 */
export function attribute(words: readonly Word[], turns: readonly Turn[]): SaidWord[] {
  const said: SaidWord[] = [];
  let first = 0; // turns before this one ended long ago
  const longest = turns.reduce((most, turn) => Math.max(most, turn.end - turn.start), 0);
  for (const word of words) {
    while (first < turns.length && turns[first]!.start + longest < word.start - NEAR) first++;
    said.push({ ...word, speaker: speakerOf(word, turns, first, said.at(-1)?.speaker ?? null) });
  }
  fillGaps(said);
  return rejoined(said, turns);
}

/** Best turn for a word. Of two that cover it equally, the one whose speaker is already talking. */
function speakerOf(word: Word, turns: readonly Turn[], first: number, talking: number | null): number | null {
  let best: number | null = null;
  let most = Number.NEGATIVE_INFINITY;
  for (let t = first; t < turns.length && turns[t]!.start < word.end + NEAR; t++) {
    const turn = turns[t]!;
    const shared = Math.min(word.end, turn.end) - Math.max(word.start, turn.start); // below 0: the distance
    if (shared < -NEAR) continue;
    const score = shared + (turn.speaker === talking ? 1e-3 : 0);
    if (score > most) [best, most] = [turn.speaker, score];
  }
  return best;
}

/** Words near no turn go with the word before, at the start with the one after. */
function fillGaps(said: SaidWord[]): void {
  for (let i = 1; i < said.length; i++) said[i]!.speaker ??= said[i - 1]!.speaker;
  for (let i = said.length - 2; i >= 0; i--) said[i]!.speaker ??= said[i + 1]!.speaker;
}

/** Gives single words between two words of one other speaker to that speaker. */
function rejoined(said: SaidWord[], turns: readonly Turn[]): SaidWord[] {
  for (let i = 1; i + 1 < said.length; i++) {
    const [before, word, after] = [said[i - 1]!, said[i]!, said[i + 1]!];
    const inside = before.speaker === after.speaker && word.speaker !== before.speaker;
    const close = word.start - before.end < STRANDED && after.start - word.end < STRANDED;
    if (inside && close && !interjected(word, turns)) word.speaker = before.speaker;
  }
  return said;
}

/** Whether the speaker of a word has a short turn around just this word. */
function interjected(word: SaidWord, turns: readonly Turn[]): boolean {
  const length = Math.max(word.end - word.start, 1e-3);
  return turns.some((turn) => {
    if (turn.speaker !== word.speaker) return false;
    const shared = Math.min(word.end, turn.end) - Math.max(word.start, turn.start);
    return shared / length >= OWN && shared / (turn.end - turn.start) >= OWN;
  });
}
