import t from 'tap';
import { pieceOf } from '../../../../engine/asr/frames/pieces.ts';
import { type Emission, toWords } from '../../../../engine/asr/frames/words.ts';

const STEP = 0.08;
const TOKENS = ['<unk>', '▁hel', 'lo', ',', '▁wor', 'ld', '.', '▁-', '<0xC3>', '<0xA9>', '▁', 'a', '<blk>'];
const pieces = TOKENS.map(pieceOf);

/** One token per frame, at these frames. */
function emitted(written: [token: string, frame: number, probability?: number][]): Emission[] {
  return written.map(([token, first, probability = 0.5]) => ({
    token: TOKENS.indexOf(token),
    first,
    end: first + 1,
    logProb: Math.log(probability),
  }));
}

function words(written: [token: string, frame: number, probability?: number][], seconds = 10) {
  return toWords(emitted(written), pieces, STEP, seconds);
}

t.test('toWords() joins pieces into words, and punctuation to the preceding word', async (t) => {
  const found = words([
    ['▁hel', 10],
    ['lo', 12],
    [',', 13],
    ['▁wor', 15],
    ['ld', 16],
    ['▁-', 20],
    ['.', 30],
  ]);
  t.strictSame(
    found.map(({ text }) => text),
    [' hello,', ' world -.'],
  );
});

t.test('toWords() extends a word to the next one if it follows soon, but not across a pause', async (t) => {
  const [hello, world, last] = words([
    ['▁hel', 10],
    ['lo', 12],
    ['▁wor', 15],
    ['▁hel', 40],
  ]);
  t.equal(hello!.end, world!.start, 'the first ends where the second starts');
  t.ok(world!.end > 16 * STEP && world!.end < 20 * STEP, `ends at ${world!.end}`);
  t.ok(last!.start < 40 * STEP && last!.start > 39 * STEP, `begins at ${last!.start}`);
});

t.test('toWords() takes the mean probability of the tokens', async (t) => {
  const [hello] = words([
    ['▁hel', 10, 0.9],
    ['lo', 12, 0.5],
  ]);
  t.ok(Math.abs(hello!.probability - 0.7) < 1e-9);
});

t.test('toWords() decodes byte tokens, and omits special tokens and incomplete characters', async (t) => {
  const found = words([
    ['▁', 1],
    ['<0xC3>', 2],
    ['<0xA9>', 3],
    ['<unk>', 4],
    ['a', 5],
    ['▁', 8],
    ['<0xC3>', 9],
    ['a', 10],
  ]);
  t.strictSame(
    found.map(({ text }) => text),
    [' éa', ' a'],
  );
  t.ok(found[0]!.start > STEP, 'the token of the space before a word does not count');
});

t.test('toWords() keeps words ordered, without overlap and inside the window, even if several begin in one frame', async (t) => {
  const found = words(
    [
      ['▁hel', 3],
      ['▁wor', 3],
      ['▁hel', 3],
      ['lo', 5],
      ['▁wor', 5],
    ],
    6 * STEP,
  );
  t.equal(found.length, 4);
  let end = 0;
  for (const word of found) {
    t.ok(word.start >= end && word.end > word.start && word.end <= 6 * STEP, `${word.start} to ${word.end} after ${end}`);
    end = word.end;
  }
});

t.test('toWords() returns no words for no tokens, for blanks and for punctuation alone', async (t) => {
  t.strictSame(words([]), []);
  t.strictSame(words([['<unk>', 3]]), []);
  t.strictSame(words([['▁', 3]]), []);
});

t.test('toWords() makes every piece a word in scripts without spaces', async (t) => {
  const spoken = (...tokens: string[]) => {
    const emissions = tokens.map((_, i): Emission => ({ token: i, first: 5 * i, end: 5 * i + 1, logProb: 0 }));
    return toWords(emissions, tokens.map(pieceOf), STEP, 30);
  };
  const texts = (...tokens: string[]) => spoken(...tokens).map(({ text }) => text);
  t.strictSame(texts('▁', '今日', 'は', '、', 'N', 'HK', 'を', '2', '5', '分', '見', 'まし', 'た', '。'), [
    ...['今日', 'は、', 'NHK', 'を', '25', '分', '見', 'まし', 'た。'],
  ]);
  t.strictSame(texts('▁我们', '用', '▁Py', 'thon', '写', '▁。'), ['我们', '用', ' Python', '写 。']);
  t.strictSame(texts('▁สวัสดี', 'ค', 'รับ', '▁ไป', 'น', '้', 'ำ'), ['สวัสดี', 'ค', 'รับ', ' ไป', 'น้', 'ำ'], 'a combining mark stays');
  t.strictSame(texts('▁', '「', '東京', '」', 'と', '<0xE5>', '<0xBD>', '<0x85>'), ['「東京」', 'と彅'], 'so do marks and bytes');
  t.strictSame(texts('п', 'р', '▁', 'и', '▁हिन्', 'दी'), [' пр', ' и', ' हिन्दी'], 'other scripts have spaces');
  const [first, second] = spoken('▁今日', 'は');
  t.ok(first!.end <= second!.start && second!.start >= 5 * STEP - 0.05, 'each has a time of its own');
});
