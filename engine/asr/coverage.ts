import type { Span } from '../types.ts';
import type { Spoken } from './recogniser.ts';
import { speechBetween } from './speech.ts';

const MAX_PAUSE_SECONDS = 1; // between words, of the window; need not contain speech

/** Seconds of speech that no word covers. Gaps up to MAX_PAUSE_SECONDS are pauses: speech detection closes them, and word edges are imprecise. */
export function uncovered(words: readonly Pick<Spoken, 'start' | 'end'>[], speech: readonly Span[]): number {
  let [seconds, end] = [0, 0];
  for (const word of [...words, { start: Number.POSITIVE_INFINITY, end: 0 }]) {
    if (word.start - end > MAX_PAUSE_SECONDS) seconds += speechBetween(speech, end, word.start);
    end = Math.max(end, word.end);
  }
  return seconds;
}
