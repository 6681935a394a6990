/**
 * Normalises text for error rates: spellings of the same words become equal. Follows the rules of OpenAI's Whisper (Radford et al. 2022,
 * appendix C).
 */

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

/** Converts number words to digits: `twenty five` -> `25`, `eighteen thirteen` -> `1813`, `one hundred and two` -> `102`. */
function numbers(words: string[]): string[] {
  const out: string[] = [];
  for (let i = 0; i < words.length; ) {
    let total = -1;
    let group = 0;
    let j = i;
    for (; j < words.length; j++) {
      const word = words[j]!;
      const unit = UNITS.indexOf(word);
      const ten = TENS.indexOf(word);
      if (unit >= 0) {
        if (total >= 0 && group % 10 !== 0 && unit < 10) break; // "one two three" is three numbers
        if (total >= 0 && group > 0 && group < 100 && unit >= 10)
          group = group * 100 + unit; // years
        else group += unit;
      } else if (ten > 1) {
        if (total >= 10 && group < 100 && group % 100 !== 0) group = group * 100 + ten * 10;
        else if (total >= 0 && group % 100 !== 0) break;
        else group += ten * 10;
      } else if (word === 'hundred' && total >= 0) group = Math.max(1, group) * 100;
      else if (word === 'thousand' && total >= 0) group = Math.max(1, group) * 1000;
      else if (word === 'and' && total >= 0 && group % 100 === 0 && UNITS.concat(TENS).includes(words[j + 1] ?? '')) continue;
      else break;
      total = group;
    }
    if (total < 0) out.push(ORDINALS[words[i]!] ?? words[i]!);
    else out.push(String(total));
    i = Math.max(j, i + 1);
  }
  return out;
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

/** Units of an error rate: words, or characters in languages without word separators. */
export function unitsOf(text: string, language: string): string[] {
  if (language === 'en') return englishWords(text);
  const plain = text
    .toLowerCase()
    .normalize('NFKC')
    .replace(/[^\p{L}\p{N}\p{M}\s]/gu, ' ');
  return /^(zh|ja|yue|th|ko)/.test(language) ? [...plain.replace(/\s+/g, '')] : plain.split(/\s+/).filter(Boolean);
}

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
