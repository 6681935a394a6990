import t from 'tap';
import { englishWords, unitsOf } from '../../../bench/errors/normalise.ts';

t.test('englishWords() gives numbers in words and in digits the same form', async (t) => {
  const same: [words: string, digits: string][] = [
    ['two thousand five hundred', '2,500'],
    ['one thousand nine hundred and two men', '1902 men'],
    ['seven hundred and fifty thousand two hundred and one', '750,201'],
    ['one hundred thousand five hundred', '100500'],
    ['nineteen hundred and five', '1905'],
    ['eighteen sixty-three', '1863'],
    ['twenty twenty five', '2025'],
    ['two thousand and eighteen', '2018'],
    ['forty five hundred', '4500'],
    ['one hundred twelve and three', '112 and 3'],
    ['ten one', '10 1'],
    ['one hundred five twelve', '105 12'],
    ['zero five', '0 5'],
    ['twenty zero', '20 0'],
    ['zero and one', '0 and 1'],
    ['one two three four', '1 2 3 4'],
    ['a hundred and and thousand', 'a hundred and and thousand'],
    ['the first of five', 'the 1st of 5'],
  ];
  for (const [words, digits] of same) t.equal(englishWords(words).join(' '), englishWords(digits).join(' '), words);
});

t.test('unitsOf() returns characters for every language without spaces between words', async (t) => {
  for (const [language, text] of [
    ['zh', '你好世界'],
    ['zh-TW', '你好世界'],
    ['ja', 'こんにちは'],
    ['th', 'สวัสดี'],
    ['lo', 'ສະບາຍດີ'],
    ['my', 'မင်္ဂလာပါ'],
    ['km', 'សួស្តី'],
    ['bo', 'བཀྲ་ཤིས'],
  ] as const)
    t.ok(unitsOf(text, language).length >= 4, language);
  t.strictSame(unitsOf('Grüße, «Welt»!', 'de'), ['grüße', 'welt']);
});

t.test('unitsOf() ignores case in Turkish, which has an i with a dot and one without', async (t) => {
  t.strictSame(unitsOf('İstanbul IŞIK', 'tr'), unitsOf('istanbul ışık', 'tr'));
  t.strictSame(unitsOf('KIM', 'de'), ['kim']);
});
