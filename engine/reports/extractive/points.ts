import { pick } from './select.ts';
import type { Sentence } from './sentences.ts';
import type { Talk } from './talk.ts';

/** Main points of a whole conversation: the square root of its number of sentences, 3 to 10. */
export function points(talk: Talk, most = 10): Sentence[] {
  return pick(talk, talk.sentences, Math.min(most, Math.max(3, Math.round(Math.sqrt(talk.sentences.length) * 0.9))));
}
