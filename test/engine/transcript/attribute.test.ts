import t from 'tap';
import { attribute } from '../../../engine/transcript/attribute.ts';
import type { Turn, Word } from '../../../engine/types.ts';

const words = (...spans: [number, number][]): Word[] => spans.map(([start, end]) => ({ start, end, text: ' w', probability: 1 }));
const turns = (...all: [number, number, number][]): Turn[] => all.map(([speaker, start, end]) => ({ speaker, start, end }));
const speakers = (w: Word[], t: Turn[]) => attribute(w, t).map(({ speaker }) => speaker);

t.test('attribute() assigns a word to the turn that covers most of it', async (t) => {
  t.strictSame(speakers(words([0, 1], [1.7, 2.5], [1.2, 2.1]), turns([0, 0, 2], [1, 2, 4])), [0, 1, 0]);
});

t.test('attribute() assigns a word outside all turns to the nearest within 0.5 s', async (t) => {
  t.strictSame(speakers(words([2.1, 2.2], [2.9, 3]), turns([0, 0, 2], [1, 3.1, 4])), [0, 1]);
  const apart = turns([0, 0, 1], [1, 4.5, 5]);
  t.strictSame(speakers(words([0, 1], [4, 4.05], [4.5, 5]), apart), [0, 1, 1], '0.45 s before a turn');
  t.strictSame(speakers(words([0, 1], [3.9, 3.95], [4.5, 5]), apart), [0, 0, 1], '0.55 s before it');
});

t.test('attribute() assigns a word far from all turns to the speaker of its neighbour', async (t) => {
  t.strictSame(speakers(words([0, 1], [5, 5.5], [20, 21]), turns([3, 0, 1.2], [4, 19, 21])), [3, 3, 4]);
  t.strictSame(speakers(words([0, 1], [9, 10]), turns([2, 9, 10])), [2, 2]);
  t.strictSame(speakers(words([0, 1]), []), [null]);
});

t.test('attribute() keeps the current speaker if two turns cover a word equally', async (t) => {
  t.strictSame(speakers(words([0, 0.4], [2, 2.4], [2.5, 2.9]), turns([1, 0, 4], [0, 2, 4])), [1, 1, 1]);
});

t.test('attribute() assigns a single word inside another sentence to that sentence', async (t) => {
  t.strictSame(
    speakers(words([0, 0.4], [0.5, 0.7], [0.8, 1.2]), turns([0, 0, 0.45], [1, 0.45, 0.72], [0, 0.72, 2])),
    [0, 1, 0],
    'a word with its own turn keeps its speaker',
  );
  t.strictSame(speakers(words([0, 0.4], [0.5, 0.7], [0.8, 1.2]), turns([0, 0, 0.45], [1, 0.3, 0.9], [0, 0.75, 2])), [0, 0, 0]);
  const both = turns([0, 0, 1.1], [1, 1.2, 2.1], [0, 2.15, 4]);
  t.strictSame(speakers(words([0, 1], [1.55, 1.75], [2.3, 3]), both), [0, 0, 0], '0.55 s after and before the others');
  t.strictSame(speakers(words([0, 0.9], [1.55, 1.75], [2.3, 3]), both), [0, 1, 0], '0.65 s after the first');
  t.strictSame(speakers(words([0, 1], [1.55, 1.75], [2.4, 3]), both), [0, 1, 0], '0.65 s before the last');
});

t.test('attribute() keeps a separate interjection', async (t) => {
  t.strictSame(speakers(words([0, 1], [2, 2.3], [3.2, 4]), turns([0, 0, 1.2], [1, 1.9, 2.4], [0, 3, 4])), [0, 1, 0]);
});

/** Words of one text from `start` on, 0.3 s each. */
const text = (start: number, words: string): Word[] =>
  words.split(' ').map((word, i) => ({ start: start + 0.3 * i, end: start + 0.3 * (i + 1), text: ` ${word}`, probability: 1 }));

t.test("attribute() assigns a phrase delimited by punctuation to a short turn that overlaps another's speech", async (t) => {
  const both = turns([0, 0, 6], [1, 1.2, 1.55]);
  t.strictSame(speakers(text(0, 'I went to town. Yes, and bought a coat.'), both), [0, 0, 0, 0, 1, 0, 0, 0, 0]);
  t.strictSame(speakers(text(0, '我 去 了 城里。 对， 买 了 大衣。'), both), [0, 0, 0, 0, 1, 0, 0, 0]);
  t.strictSame(speakers(text(0, 'I went. Of course. Then I bought it.'), turns([0, 0, 6], [1, 0.5, 1.25])), [0, 0, 1, 1, 0, 0, 0, 0]);
});

t.test('attribute() counts the words of a phrase by its letters in scripts without spaces', async (t) => {
  const pieces = (tokens: string): Word[] =>
    tokens.split(' ').map((token, i) => ({ start: 0.2 * i, end: 0.2 * (i + 1), text: token, probability: 1 }));
  const both = turns([0, 0, 6], [1, 0.8, 1.4]);
  t.strictSame(speakers(pieces('我 去 了 城里。 对 对 对， 买 了 大衣。'), both), [0, 0, 0, 0, 1, 1, 1, 0, 0, 0]);
  t.strictSame(speakers(pieces('昨日 行 きまし た。 そう です ね。 それ から'), both), [0, 0, 0, 0, 1, 1, 1, 0, 0]);
  t.strictSame(
    speakers(pieces('昨日 行 きまし た。 私たち は東京へ 行きます。 それ から'), both),
    [0, 0, 0, 0, 0, 0, 0, 0, 0],
    'a sentence',
  );
});

t.test('attribute() keeps the words of a sentence with its speaker when another one interjects', async (t) => {
  const both = turns([0, 0, 6], [1, 1.2, 1.55]);
  t.strictSame(speakers(text(0, 'I went to town today and bought a coat.'), both), new Array(9).fill(0), 'no punctuation around the word');
  t.strictSame(
    speakers(text(0, "I went to the shoppin' town and bought it."), both),
    new Array(9).fill(0),
    'an apostrophe is not punctuation',
  );
  t.strictSame(
    speakers(text(0, 'Well, I went to town, yes, and home.'), turns([0, 0, 6], [1, 0.4, 1.7])),
    new Array(8).fill(0),
    'a longer turn',
  );
  t.strictSame(
    speakers(text(0, 'I went, yes, to town.'), turns([1, 0, 0.2], [0, 0, 3], [1, 0.6, 4])),
    new Array(5).fill(0),
    'nor a turn that is long',
  );
});
