import { pick } from './select.ts';
import type { Sentence } from './sentences.ts';
import type { Talk } from './talk.ts';
import { stem, stopwords, wordsOf } from './words.ts';

/** The sentences that share most rare words with `query`, in chronological order. */
export function closest(talk: Talk, query: string, count: number): Sentence[] {
  const stop = stopwords(talk.language);
  const wanted = new Set(
    wordsOf(query, talk.language?.elision)
      .filter((word) => word.length > 2 && !stop.has(word))
      .map(stem),
  );
  return pick(
    talk,
    talk.sentences.filter((sentence) => sentence.terms.some((term) => wanted.has(term))),
    count,
  );
}
