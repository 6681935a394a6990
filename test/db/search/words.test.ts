import fc from 'fast-check';
import t from 'tap';
import { LIMITS } from '../../../api/contract/limits.ts';
import { questionOf } from '../../../db/search/terms.ts';
import { asked, fold, formsOf, skim } from '../../../db/search/words.ts';

t.test('fold() maps letter case, accents and equivalent characters to one form', async (t) => {
  const same: string[][] = [
    ['ärger', 'ÄRGER', 'A\u0308rger', 'arger'],
    ['straße', 'STRASSE', 'Strasse'],
    ['ﬁne', 'fine', 'ＦＩＮＥ'],
    ['ΚΑΛΗΜΈΡΑΣ', 'καλημέρας', 'καλημερασ'],
    ['Ёлка', 'елка'],
    ['İstanbul', 'ISTANBUL', 'istanbul'],
    ['Łódź', 'lodz'],
    ['ｶﾞｷﾞ', 'ガギ'],
    ['한국', '\u1112\u1161\u11ab\u1100\u116e\u11a8'],
    ['مُحَمَّد', 'محمد'],
  ];
  for (const words of same) t.equal(new Set(words.map(fold)).size, 1, words.join(' '));
});

t.test('fold() keeps words distinct that differ by more than an accent', async (t) => {
  for (const [one, other] of [
    ['か', 'が'],
    ['มา', 'มี'],
    ['की', 'का'],
    ['cat', 'cut'],
  ] as const)
    t.not(fold(one), fold(other));
});

t.test('fold() and asked() keep 64 characters of a word, and ignore the rest', async (t) => {
  for (const letter of ['a', 'ж']) {
    const [whole, start] = [letter.repeat(64), letter.repeat(63)];
    t.strictSame([start, whole, `${whole}b`].map(fold), [start, whole, whole]);
    t.strictSame(asked(`${start}-${letter}b`), [{ whole, parts: [start, fold(`${letter}b`)] }]);
  }
});

t.test('formsOf() finds words between spaces and punctuation, and compounds whole and in parts', async (t) => {
  t.strictSame([...formsOf("Don't! (e-mail) 1,000…")].sort(), ['000', '1', '1000', 'don', 'dont', 'e', 'email', 'mail', 't'].sort());
  t.strictSame([...formsOf('— … !?')], []);
});

t.test('formsOf() finds words in scripts without spaces', async (t) => {
  t.ok(formsOf('明日は大阪に行きます').has('大阪'));
  t.ok(formsOf('สวัสดีครับผม').has('สวัสดี'));
  t.ok(formsOf('我们明天去北京开会').has('北京'));
  t.ok(formsOf('3時にTeamsで会議').has('teams'));
});

t.test('asked() returns each word once, and the parts of a compound', async (t) => {
  t.strictSame(asked('Well-known well-KNOWN'), [{ whole: 'wellknown', parts: ['well', 'known'] }]);
});

const PIECES = [
  'Ä',
  'é',
  'e\u0301',
  'ß',
  'Σ',
  'ς',
  'ı',
  'İ',
  'ø',
  'Ł',
  'đ',
  'ﬁ',
  'ａ',
  'ｶﾞ',
  '明日',
  '大阪',
  'สวัสดี',
  'مُ',
  'בְּ',
  'ё',
  '한',
  "'",
  '’',
  '-',
  '.',
  ',',
  ' ',
];

t.test('skim() of a text contains skim() of every form of its words (property)', async () => {
  const piece = fc.oneof(fc.constantFrom(...PIECES), fc.string({ unit: 'grapheme', maxLength: 2 }), fc.string({ maxLength: 3 }));
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 12 }), (pieces) => {
      const text = pieces.join('');
      return [...formsOf(text)].every((form) => skim(text).includes(skim(form)));
    }),
    { numRuns: 20_000 },
  );
});

t.test('questionOf() takes the first words of a search, as many as the API promises', async (t) => {
  const key = { version: 1, key: Buffer.alloc(32) };
  const words = Array.from({ length: LIMITS.SEARCH_WORDS + 1 }, (_, i) => `word${i}`);
  const first = words.slice(0, -1).join(' ');
  t.equal(LIMITS.SEARCH_WORDS, 16);
  t.strictSame(questionOf(key, words.join(' ')), questionOf(key, first));
  t.equal(questionOf(key, first)!.length, LIMITS.SEARCH_WORDS);
});
