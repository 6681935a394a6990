import type { Sentence } from './sentences.ts';
import type { Talk } from './talk.ts';
import { NO_SPACES, stem, stopwords, wordsOf } from './words.ts';

interface Phrase {
  /** Stems, separated by spaces. */
  key: string;
  words: number;
  count: number;
  /** How often it followed an article, a possessive or a preposition, which indicates a noun. */
  nominal: number;
  first: number;
  /** The shortest of the first spellings, usually the dictionary form. */
  surface: string;
}

const LONGEST = 3; // words per topic
const FORMS = 8; // spellings compared per topic
const ENOUGH = 3; // if fewer topics are mentioned twice, single mentions count too
const AMOUNTS = new Set(
  'hundred thousand million percent euro euros dollar dollars hundert tausend prozent cien mil millón millones por ciento cent mille pour rubles тысяч тысячи рублей рубля процентов миллионов cem milhões reais cento mila milioni euro'.split(
    ' ',
  ),
);
const NUMBER = /^[\d'.,%$€£₽]+$/;

/**
 * Topics of these sentences: the most frequent runs of content words, longer ones first (C-value, Frantzi and Ananiadou 1996); of single
 * words only those that behave like nouns. Best first.
 */
export function topicsOf(talk: Talk, sentences: readonly Sentence[], count: number): string[] {
  const ranked = [...collect(talk, sentences).values()]
    .filter((phrase) => talk.language === null || phrase.nominal > 0)
    .map((phrase) => ({ phrase, worth: phrase.count * Math.log2(phrase.words + 1) * (1 + phrase.nominal / phrase.count) }))
    .sort((a, b) => b.worth - a.worth || a.phrase.first - b.phrase.first)
    .map(({ phrase }) => phrase);
  const most = Math.max(count, ENOUGH);
  const repeated = distinct(
    ranked.filter((phrase) => phrase.count > 1),
    most,
  );
  const single = repeated.length >= ENOUGH ? [] : ranked.filter((phrase) => phrase.words === 1);
  const topics = single.length === 0 ? repeated : distinct([...repeated, ...single], most);
  return topics.slice(0, count).map((phrase) => phrase.surface);
}

/** The first `most` that share no word with an earlier one. */
function distinct(phrases: readonly Phrase[], most: number): Phrase[] {
  const chosen: Phrase[] = [];
  for (const phrase of phrases) {
    if (chosen.length === most) break;
    if (!chosen.some((other) => overlaps(other, phrase))) chosen.push(phrase);
  }
  return chosen;
}

function collect(talk: Talk, sentences: readonly Sentence[]): Map<string, Phrase> {
  const phrases = new Map<string, Phrase>();
  const known = clausesOf(talk);
  for (const sentence of sentences) {
    for (const clause of known[sentence.index]!) {
      for (let from = 0; from < clause.stems.length; from++) {
        let key = '';
        for (let to = from + 1; to <= from + LONGEST && clause.meaning[to - 1]; to++) {
          key = key === '' ? clause.stems[from]! : `${key} ${clause.stems[to - 1]}`;
          if (to === from + 1 && !clause.alone[from]) continue;
          note(phrases, key, clause, from, to, sentence.index);
        }
      }
    }
  }
  return phrases;
}

interface Clause {
  surfaces: string[];
  stems: string[];
  /** Per word: whether it can be part of a topic, can be a topic alone, and follows a word that precedes nouns. */
  meaning: boolean[];
  alone: boolean[];
  announced: boolean[];
  joint: string;
}

const clauses = new WeakMap<Talk, Clause[][]>();

/** The clauses of every sentence, computed once per conversation. */
function clausesOf(talk: Talk): Clause[][] {
  let found = clauses.get(talk);
  if (found === undefined) clauses.set(talk, (found = readClauses(talk)));
  return found;
}

function readClauses(talk: Talk): Clause[][] {
  const { language } = talk;
  const stop = stopwords(language);
  const before = new Set(wordsOf(language?.determiners ?? '', language?.elision));
  const speakers = new Set(talk.speakers.flatMap((speaker) => wordsOf(speaker.label)));
  const means = (word: string) =>
    !stop.has(word) && !speakers.has(word) && !AMOUNTS.has(word) && (word.length > 2 || language === null) && !NUMBER.test(word);
  return talk.sentences.map((sentence) =>
    sentence.text.split(/[,;:.!?…。、！？()«»"“”–—]+/).map((text) => {
      const words = wordsOf(text, language?.elision);
      const surfaces = surfaceWords(language?.elision ? text.replace(/['’]/g, "' ") : text, words);
      return {
        surfaces,
        stems: words.map(stem),
        meaning: words.map(means),
        alone: words.map((word, at) => word.length >= 4 || language === null || /^\p{Lu}{2,}$/u.test(surfaces[at]!)),
        announced: words.map((_, at) => at > 0 && before.has(words[at - 1]!)),
        joint: NO_SPACES.test(text) ? '' : ' ',
      };
    }),
  );
}

/** The words as written, if they can be matched; else as normalised. */
function surfaceWords(clause: string, words: string[]): string[] {
  const written = clause.match(/[\p{L}\p{N}][\p{L}\p{M}\p{N}'’]*|[$€£₽%]/gu) ?? [];
  return written.length === words.length ? written : words;
}

function note(phrases: Map<string, Phrase>, key: string, clause: Clause, from: number, to: number, index: number): void {
  let phrase = phrases.get(key);
  if (phrase === undefined) phrases.set(key, (phrase = { key, words: to - from, count: 0, nominal: 0, first: index, surface: '' }));
  phrase.count++;
  phrase.nominal += Number(clause.announced[from]);
  if (phrase.count > FORMS) return;
  let surface = clause.surfaces[from]!;
  for (let at = from + 1; at < to; at++) surface += clause.joint + clause.surfaces[at]!;
  const shorter = surface.length - phrase.surface.length;
  if (phrase.surface === '' || shorter < 0 || (shorter === 0 && surface > phrase.surface)) phrase.surface = surface; // lower-case letters sort last
}

function overlaps(a: Phrase, b: Phrase): boolean {
  const stems = a.key.split(' ');
  return b.key.split(' ').some((stem) => stems.includes(stem));
}

/** The text with a capital first letter. */
export function capital(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}
