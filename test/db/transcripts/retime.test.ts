import fc from 'fast-check';
import t from 'tap';
import { retime, type StoredWord } from '../../../db/transcripts/retime.ts';

const SAID: StoredWord[] = [
  [1, 1.4, ' Please', 0.9],
  [1.5, 1.8, ' cal', 0.3],
  [2, 2.6, ' Bob', 0.8],
  [3, 3.4, ' tomorrow.', 0.95],
];

const joined = (words: readonly StoredWord[]) => words.map((word) => word[2]).join('');

t.test('retime() keeps timestamps and confidence of unchanged words, and a corrected word gets those of the old one', async (t) => {
  t.strictSame(retime(SAID, 'Please call Bob tomorrow.', 1, 3.5), [SAID[0], [1.5, 1.8, ' call'], SAID[2], SAID[3]]);
});

t.test('retime() splits the time of one word between two, and the gap between neighbours among inserted words', async (t) => {
  t.strictSame(retime(SAID, 'Please cal Bo bb tomorrow.', 1, 3.5), [SAID[0], SAID[1], [2, 2.3, ' Bo'], [2.3, 2.6, ' bb'], SAID[3]]);
  t.strictSame(retime(SAID, 'Please cal Bob at tomorrow.', 1, 3.5)[3], [2.6, 3, ' at']);
});

t.test('retime() removes words, keeps punctuation with its word, and supports languages without spaces', async (t) => {
  t.strictSame(retime(SAID, 'Please Bob tomorrow.', 1, 3.5), [SAID[0], SAID[2], SAID[3]]);
  t.strictSame(retime(SAID, 'Please, cal Bob tomorrow.', 1, 3.5)[0], [1, 1.4, ' Please,', 0.9]);
  const chinese: StoredWord[] = [
    [0, 0.5, '今天'],
    [0.5, 1, '天气'],
    [1, 1.2, '很'],
    [1.2, 1.5, '号'],
  ];
  t.strictSame(retime(chinese, '今天天气很好', 0, 1.5), [chinese[0], chinese[1], chinese[2], [1.2, 1.5, '好']]);
  t.strictSame(retime([], 'New words', 4, 6), [
    [4, 4.667, 'New'],
    [4.667, 6, ' words'],
  ]);
});

const characters = (first: number, count: number) => Array.from({ length: count }, (_, i) => String.fromCodePoint(first + (i % 5_000)));

t.test('retime() spreads a long text that replaces another one, without comparing each word with each', async (t) => {
  const words = characters(0x4e00, 20_000).map((text, i): StoredWord => [i / 10, i / 10 + 0.1, text]);
  const text = characters(0x6e00, 19_000).join('');
  const began = process.cpuUsage();
  const timed = retime(words, text, 0, 2_000);
  const { user, system } = process.cpuUsage(began);
  t.ok(user + system < 2_500_000, `took ${(user + system) / 1e6} s of CPU time`);
  t.equal(joined(timed), text);
  t.strictSame([timed[0]![0], timed.at(-1)![1]], [0, 2_000]);
});

t.test('retime() keeps the words before and after a change in a text of any length', async (t) => {
  const words = characters(0x4e00, 70_000).map((text, i): StoredWord => [i / 10, i / 10 + 0.1, text, 0.5]);
  const text = `${joined(words.slice(0, 40_000))}X${joined(words.slice(40_002))}`;
  const timed = retime(words, text, 0, 7_000);
  t.strictSame(timed.slice(0, 40_000), words.slice(0, 40_000));
  t.strictSame(timed[40_000], [4_000, 4_000.2, 'X']);
  t.strictSame(timed.slice(40_001), words.slice(40_002));
});

t.test('retime() returns words that spell the text, with timestamps within the segment', async (t) => {
  const word = fc.constantFrom('we', 'should', 'ask', 'Bob', 'Bob,', 'tomorrow.', '你好', 'что', '“no”');
  const property = fc.property(fc.array(word, { maxLength: 9 }), fc.array(word, { minLength: 1, maxLength: 9 }), (before, after) => {
    const words = before.map((text, index): StoredWord => [index, index + 0.8, ` ${text}`]);
    const text = after.join(' ');
    const timed = retime(words, text, 0, 9);
    t.equal(joined(timed).trim(), text);
    for (const [start, end] of timed) t.ok(start >= 0 && start <= end && end <= 9);
  });
  fc.assert(property);
});
