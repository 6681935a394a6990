/*
 * Normalises words for search: letter case, accents and variants of characters are ignored. Text and query go through the same steps, so a
 * form need not be a word of a dictionary.
 */

/** Letters and digits, with what may stand between two of them inside a word: `don't`, `e-mail`, `1,000`, `example.com`. */
const WORD = /[\p{L}\p{M}\p{N}]+(?:['’ʼ`\-‐‑.,][\p{L}\p{N}][\p{L}\p{M}\p{N}]*)*/gu;
const JOINT = /['’ʼ`\-‐‑.,]/u;
/** Scripts written without spaces: word boundaries come from a dictionary. */
const UNSPACED = /[\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}\p{sc=Thai}\p{sc=Lao}\p{sc=Khmer}\p{sc=Myanmar}ー々]+/gu;
/**
 * Accents and vowel points that may be omitted in writing. The vowel signs of Thai and the sound marks of kana are different letters and
 * stay.
 */
const ACCENTS = /(?![\u3099\u309a])\p{sc=Inherited}|[\u0483-\u0487]|(?=\p{M})\p{sc=Hebrew}|(?=\p{M})\p{sc=Arabic}|\u0640/gu;
const JOINTS = new RegExp(JOINT, 'gu');
const FOREIGN = /[^\0-\x7f]/;
const FOREIGN_LETTERS = new RegExp(FOREIGN, 'gu');
const letters = new Map<string, string>(); // what `plainly` returned, at most one entry per character of Unicode
const PLAIN: Record<string, string> = { ø: 'o', ł: 'l', đ: 'd', ς: 'σ' }; // the last is σ at the end of a word
const ASCII = /^[a-z0-9]*$/;
const SIMPLE = /^[a-z0-9]*$/i;
const LONGEST = 64; // characters of a form; the rest is ignored
let segmenter: Intl.Segmenter | undefined;

/** `Ärger` -> `arger`, `ﬁne` -> `fine`, `Straße` -> `strasse`, `Ё` -> `е`, `ハ` (half width) -> `ハ` */
export function fold(word: string): string {
  const lower = word.toLowerCase();
  if (ASCII.test(lower)) return lower.slice(0, LONGEST);
  const folded = lower.normalize('NFKC').toUpperCase().toLowerCase(); // upper case first: it unifies ß, ς and similar forms
  return folded
    .normalize('NFKD')
    .replace(ACCENTS, '')
    .replace(/ø/g, 'o')
    .replace(/ł/g, 'l')
    .replace(/đ/g, 'd')
    .normalize('NFC')
    .slice(0, LONGEST);
}

/**
 * A text folded letter by letter, without accents and joints: `skim` of every form of its words is a part of it. Far cheaper than `formsOf`,
 * to skip texts that cannot match.
 */
export function skim(text: string): string {
  const plain = FOREIGN.test(text) ? text.normalize('NFKC').replace(FOREIGN_LETTERS, plainly).normalize('NFD') : text;
  return plain.toLowerCase().replace(JOINTS, '');
}

/** A letter beyond ASCII without case and accents. */
function plainly(letter: string): string {
  const known = letters.get(letter);
  if (known !== undefined) return known;
  const folded = letter.toLowerCase().normalize('NFKC').toUpperCase().toLowerCase().normalize('NFKD').replace(ACCENTS, '');
  const plain = folded.replace(/[øłđς]/g, (each) => PLAIN[each]!);
  letters.set(letter, plain);
  return plain;
}

/**
 * The distinct forms of the words of a text. A compound counts as a whole and by its parts: `e-mail` is found as `email`, `mail` and
 * `e-mail`.
 */
export function formsOf(text: string): Set<string> {
  const forms = new Set<string>();
  for (const word of wordsOf(text)) for (const form of word.parts.length > 1 ? [word.whole, ...word.parts] : [word.whole]) forms.add(form);
  return forms;
}

/** A word of a query. It matches as a whole, or by its parts. */
export interface Asked {
  whole: string;
  /** Equal to `whole` for a word that is not a compound. */
  parts: string[];
}

/** The distinct words of a query. */
export function asked(text: string): Asked[] {
  return [...new Map([...wordsOf(text)].map((word) => [word.whole, word])).values()];
}

function* wordsOf(text: string): Generator<Asked> {
  const seen = new Set<string>();
  for (const [token] of text.normalize('NFKC').matchAll(WORD)) {
    if (seen.has(token)) continue;
    seen.add(token);
    if (SIMPLE.test(token)) {
      const whole = fold(token);
      yield { whole, parts: [whole] };
      continue;
    }
    let at = 0;
    for (const run of token.matchAll(UNSPACED)) {
      yield* plain(token.slice(at, run.index));
      segmenter ??= new Intl.Segmenter('ja', { granularity: 'word' }); // its dictionaries are selected by script, not by this language
      for (const { segment, isWordLike } of segmenter.segment(run[0])) if (isWordLike) yield* plain(segment);
      at = run.index + run[0].length;
    }
    yield* plain(token.slice(at));
  }
}

function* plain(token: string): Generator<Asked> {
  const parts = token.split(JOINT).map(fold).filter(Boolean);
  if (parts.length) yield { whole: parts.join('').slice(0, LONGEST), parts };
}
