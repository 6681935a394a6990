import type { Language } from './cues/cue.ts';

/** Scripts without spaces between words. */
export const NO_SPACES =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}]/u;
const segmenter = new Intl.Segmenter(undefined, { granularity: 'word' });

/** Lower-case words without punctuation. Apostrophes are part of a word, or end it if `elision` is set (`l' équipe`). */
export function wordsOf(text: string, elision = false): string[] {
  const lower = text.toLowerCase().replaceAll('’', "'").replaceAll('ё', 'е');
  if (NO_SPACES.test(lower)) return [...segmenter.segment(lower)].filter((part) => part.isWordLike).map((part) => part.segment);
  const spaced = elision ? lower.replaceAll("'", "' ") : lower;
  return spaced.match(/[\p{L}\p{N}][\p{L}\p{M}\p{N}']*|[$€£₽%]/gu) ?? [];
}

/** Compiles phrases of `cues/cue.ts` to a pattern for ` word word word `. */
export function compile(phrases: string): RegExp {
  const source = phrases
    .toLowerCase()
    .replaceAll('ё', 'е')
    .replaceAll(' .. ', ' (?:[^ ]+ ){0,4}')
    .replaceAll('*', '[^ ]*')
    .replace(/\((?!\?)/g, '(?:');
  return new RegExp(` (?:${source})(?= )`);
}

const sets = new WeakMap<Language, Set<string>>();

/** The stop words of a language. */
export function stopwords(language: Language | null): Set<string> {
  if (language === null) return new Set();
  let found = sets.get(language);
  if (found === undefined) {
    found = new Set(wordsOf(language.stop, language.elision));
    sets.set(language, found);
  }
  return found;
}

const CYRILLIC_ENDING =
  /(?:иями|ями|ами|ого|его|ому|ему|ыми|ими|иях|ией|ям|ам|ях|ах|ом|ем|ов|ев|ой|ей|ый|ий|ая|яя|ое|ее|ые|ие|ую|юю|ия|ию|ии|[аяоеуюыийь])$/;

/** Simple stemming, so that `contract` and `contracts` match: strips case endings and a plural s, then everything after seven letters. */
export function stem(word: string): string {
  if (/^[а-я]{4,}$/.test(word)) return word.replace(CYRILLIC_ENDING, '').slice(0, 7);
  const singular = word.length > 4 && word.endsWith('s') && !word.endsWith('ss') ? word.slice(0, -1) : word;
  return singular.slice(0, 7);
}

/** A pattern for words that begin a sentence. */
export function compileOpening(words: string): RegExp {
  return new RegExp(`^${compile(words).source}`);
}
