import type { Sentence } from './sentences.ts';
import type { Talk } from './talk.ts';
import { NO_SPACES, stem, stopwords, wordsOf } from './words.ts';

interface Phrase {
  words: string[];
  count: number;
  /** Times it stood behind an article, a possessive or a preposition: a sign of a noun. */
  nominal: number;
  first: number;
  surface: Map<string, number>;
}

const LONGEST = 3; // words of a topic
const ENOUGH = 3; // topics said twice; with fewer, words said once count too
const AMOUNTS = new Set(
  'hundred thousand million percent euro euros dollar dollars hundert tausend prozent cien mil millón millones por ciento cent mille pour rubles тысяч тысячи рублей рубля процентов миллионов cem milhões reais cento mila milioni euro'.split(
    ' ',
  ),
);
const NUMBER = /^[\d'.,%$€£₽]+$/;

/**
 * What these sentences are about: the commonest runs of meaningful words, longer ones first (C-value, Frantzi and Ananiadou 1996), and of single words only
 * those that behave like nouns. Best first.
 */
export function topicsOf(talk: Talk, sentences: readonly Sentence[], count: number): string[] {
  const ranked = [...collect(talk, sentences).values()]
    .filter((phrase) => talk.language === null || phrase.nominal > 0)
    .map((phrase) => ({ phrase, worth: phrase.count * Math.log2(phrase.words.length + 1) * (1 + phrase.nominal / phrase.count) }))
    .sort((a, b) => b.worth - a.worth || a.phrase.first - b.phrase.first)
    .map(({ phrase }) => phrase);
  const repeated = distinct(ranked.filter((phrase) => phrase.count > 1));
  const topics = repeated.length >= ENOUGH ? repeated : distinct([...repeated, ...ranked.filter((phrase) => phrase.words.length === 1)]);
  return topics.slice(0, count).map((phrase) => capital(shortest(phrase.surface)));
}

/** Without those that share a word with one before. */
function distinct(phrases: readonly Phrase[]): Phrase[] {
  const chosen: Phrase[] = [];
  for (const phrase of phrases) if (!chosen.some((other) => overlaps(other.words, phrase.words))) chosen.push(phrase);
  return chosen;
}

function collect(talk: Talk, sentences: readonly Sentence[]): Map<string, Phrase> {
  const stop = stopwords(talk.language);
  const before = new Set(wordsOf(talk.language?.determiners ?? '', talk.language?.elision));
  const speakers = new Set(talk.speakers.flatMap((speaker) => wordsOf(speaker.label)));
  const phrases = new Map<string, Phrase>();
  for (const sentence of sentences) {
    for (const clause of sentence.text.split(/[,;:.!?…。、！？()«»"“”–—]+/)) {
      const words = wordsOf(clause, talk.language?.elision);
      const surfaces = surfaceWords(talk.language?.elision ? clause.replace(/['’]/g, "' ") : clause, words);
      const meaning = words.map(
        (word) =>
          !stop.has(word) && !speakers.has(word) && !NUMBER.test(word) && !AMOUNTS.has(word) && (word.length > 2 || talk.language === null),
      );
      for (let from = 0; from < words.length; from++) {
        for (let to = from + 1; to <= Math.min(words.length, from + LONGEST) && meaning[to - 1]; to++) {
          const part = words.slice(from, to);
          if (part.length === 1 && part[0]!.length < 4 && talk.language !== null && !/^\p{Lu}{2,}$/u.test(surfaces[from]!)) continue;
          note(
            phrases,
            part,
            surfaces.slice(from, to).join(NO_SPACES.test(clause) ? '' : ' '),
            before.has(words[from - 1] ?? ''),
            sentence.index,
          );
        }
      }
    }
  }
  return phrases;
}

/** The words as written, where that can be told; else as normalised. */
function surfaceWords(clause: string, words: string[]): string[] {
  const written = clause.match(/[\p{L}\p{N}][\p{L}\p{M}\p{N}'’]*|[$€£₽%]/gu) ?? [];
  return written.length === words.length ? written : words;
}

function note(phrases: Map<string, Phrase>, words: string[], surface: string, nominal: boolean, index: number): void {
  const key = words.map(stem).join(' ');
  let phrase = phrases.get(key);
  if (phrase === undefined) phrases.set(key, (phrase = { words, count: 0, nominal: 0, first: index, surface: new Map() }));
  phrase.count++;
  phrase.nominal += Number(nominal);
  phrase.surface.set(surface, (phrase.surface.get(surface) ?? 0) + 1);
}

function overlaps(a: string[], b: string[]): boolean {
  const stems = new Set(a.map(stem));
  return b.some((word) => stems.has(stem(word)));
}

/** The shortest form is the one a dictionary would list, as a rule. */
function shortest(surfaces: Map<string, number>): string {
  return [...surfaces.keys()].reduce((best, surface) => (surface.length < best.length ? surface : best));
}

/** The text with a capital first letter. */
export function capital(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}
