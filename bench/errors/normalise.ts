/**
 * Normalises text for error rates: spellings of the same words become equal. Follows the rules of OpenAI's Whisper (Radford et al. 2022,
 * appendix C).
 */
import { WITHOUT_SPACES } from '../../engine/asr/whisper/timing/words.ts';

const CONTRACTIONS: [RegExp, string][] = [
  [/\bwon't\b/g, 'will not'],
  [/\bcan't\b/g, 'can not'],
  [/\bcannot\b/g, 'can not'],
  [/\blet's\b/g, 'let us'],
  [/\bain't\b/g, 'is not'],
  [/\bma'am\b/g, 'madam'],
  [/\bgonna\b/g, 'going to'],
  [/\bwanna\b/g, 'want to'],
  [/\bgotta\b/g, 'got to'],
  [/\bmr\b\.?/g, 'mister'],
  [/\bmrs\b\.?/g, 'missus'],
  [/\bdr\b\.?/g, 'doctor'],
  [/\bst\b\.?/g, 'saint'],
  [/n't\b/g, ' not'],
  [/'re\b/g, ' are'],
  [/'s\b/g, ' is'],
  [/'d\b/g, ' would'],
  [/'ll\b/g, ' will'],
  [/'t\b/g, ' not'],
  [/'ve\b/g, ' have'],
  [/'m\b/g, ' am'],
];

const SPELLING: Record<string, string> = Object.fromEntries(
  `humour humor colour color honour honor favour favor favourite favorite labour labor neighbour neighbor behaviour behavior harbour harbor
   parlour parlor rumour rumor vigour vigor grey gray centre center theatre theater metre meter metres meters litre liter programme program catalogue catalog
   dialogue dialog recognise recognize realise realize realised realized organise organize organised organized apologise apologize defence defense
   offence offense licence license practise practice travelling traveling travelled traveled jewellery jewelry plough plow tyre tire cheque check
   whilst while towards toward afterwards afterward ok okay`
    .trim()
    .split(/\s+/)
    .flatMap((word, i, all): [string, string][] => (i % 2 ? [] : [[word, all[i + 1]!]])),
);

const UNITS =
  'zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen nineteen'.split(
    ' ',
  );
const TENS = '_ _ twenty thirty forty fifty sixty seventy eighty ninety'.split(' ');
const COUNTED = new Set([...UNITS.slice(1), ...TENS.slice(2)]);
const ORDINALS: Record<string, string> = {
  first: '1st',
  second: '2nd',
  third: '3rd',
  fourth: '4th',
  fifth: '5th',
  sixth: '6th',
  seventh: '7th',
  eighth: '8th',
  ninth: '9th',
  tenth: '10th',
};

/** Converts number words to digits: `twenty five` -> `25`, `eighteen thirteen` -> `1813`, `two thousand five hundred and two` -> `2502`. */
function numbers(words: string[]): string[] {
  const out: string[] = [];
  for (let i = 0; i < words.length; ) {
    const { value, length } = numberAt(words, i);
    out.push(length ? String(value) : (ORDINALS[words[i]!] ?? words[i]!));
    i += Math.max(1, length);
  }
  return out;
}

/** The number that the words from `first` on spell, and how many of them. */
function numberAt(words: readonly string[], first: number): { value: number; length: number } {
  let [thousands, group] = [0, 0];
  let length = 0;
  for (let word = words[first]; word !== undefined; word = words[first + ++length]) {
    const [unit, ten] = [UNITS.indexOf(word), TENS.indexOf(word)];
    const pair = !thousands && group < 100; // of two numbers that spell a year
    if (length && (unit === 0 || thousands + group === 0)) break; // zero stands alone
    if (unit >= 10 && pair && group > 0) group = group * 100 + unit;
    else if (ten > 1 && pair && group >= 10) group = group * 100 + ten * 10;
    else if ((unit >= 10 || ten > 1) && group % 100 === 0) group += Math.max(unit, ten * 10);
    else if (unit >= 0 && unit < 10 && group % 10 === 0 && group % 100 !== 10)
      group += unit; // "one two three" is three numbers
    else if (word === 'hundred' && group > 0 && group < 100) group *= 100;
    else if (word === 'thousand' && !thousands && group > 0 && group < 1000) [thousands, group] = [group * 1000, 0];
    else if (!(word === 'and' && length && group % 100 === 0 && COUNTED.has(words[first + length + 1] ?? ''))) break;
  }
  return { value: thousands + group, length };
}

/** Words of English text, approximating Whisper's normaliser. */
export function englishWords(text: string): string[] {
  let s = text
    .toLowerCase()
    .replace(/\[[^\]]*\]|\([^)]*\)/g, ' ')
    .replace(/[’‘`]/g, "'");
  s = s.replace(/\b(hmm|mm|mhm|mmm|uh|um|uhm|er|erm|ah)\b/g, ' ').replace(/(\d),(\d)/g, '$1$2');
  for (const [pattern, replacement] of CONTRACTIONS) s = s.replace(pattern, replacement);
  s = s
    .normalize('NFKD')
    .replace(/\p{M}/gu, '')
    .replace(/[^\p{L}\p{N}\s]/gu, ' ');
  return numbers(
    s
      .split(/\s+/)
      .filter(Boolean)
      .map((word) => SPELLING[word] ?? word),
  );
}

/** Units of an error rate: words, or characters in languages without word separators, and in Korean, whose spaces vary. */
export function unitsOf(text: string, language: string): string[] {
  if (language === 'en') return englishWords(text);
  const [code] = language.split(/[-_]/) as [string];
  const plain = text
    .toLocaleLowerCase(DOTLESS.has(code) ? 'tr' : 'en')
    .normalize('NFKC')
    .replace(/[^\p{L}\p{N}\p{M}\s]/gu, ' ');
  return code === 'ko' || WITHOUT_SPACES.has(code) ? [...plain.replace(/\s+/g, '')] : plain.split(/\s+/).filter(Boolean);
}

const DOTLESS = new Set(['tr', 'az']); // languages in which the small letter of I is ı, and that of İ is i

export interface Errors {
  reference: number;
  substituted: number;
  deleted: number;
  inserted: number;
}

export function addErrors(a: Errors, b: Errors): Errors {
  return {
    reference: a.reference + b.reference,
    substituted: a.substituted + b.substituted,
    deleted: a.deleted + b.deleted,
    inserted: a.inserted + b.inserted,
  };
}

/** Word (or character) error rate, from 0; may exceed 1. */
export function errorRate(e: Errors): number {
  return e.reference ? (e.substituted + e.deleted + e.inserted) / e.reference : e.inserted ? 1 : 0;
}

export const NO_ERRORS: Errors = { reference: 0, substituted: 0, deleted: 0, inserted: 0 };
