import type { Span } from '../types.ts';
import type { Spoken } from './recogniser.ts';
import { speechBetween } from './speech.ts';

const MAX_PAUSE_SECONDS = 1; // between words, of the window; need not contain speech

/** Seconds of speech that no word covers. */
export function uncovered(words: readonly Timed[], speech: readonly Span[]): number {
  return gaps(words).reduce((sum, { start, end }) => sum + speechBetween(speech, start, end), 0);
}

/** Spans without words. Gaps up to MAX_PAUSE_SECONDS are pauses: speech detection closes them, and word edges are imprecise. */
export function gaps(words: readonly Timed[]): Span[] {
  const found: Span[] = [];
  let end = 0;
  for (const word of [...words, { start: Number.POSITIVE_INFINITY, end: 0 }]) {
    if (word.start - end > MAX_PAUSE_SECONDS) found.push({ start: end, end: word.start });
    end = Math.max(end, word.end);
  }
  return found;
}

type Timed = Pick<Spoken, 'start' | 'end'>;
