import t from 'tap';
import { attribute } from '../../../engine/transcript/attribute.ts';
import type { Turn, Word } from '../../../engine/types.ts';

const words = (...spans: [number, number][]): Word[] => spans.map(([start, end]) => ({ start, end, text: ' w', probability: 1 }));
const turns = (...all: [number, number, number][]): Turn[] => all.map(([speaker, start, end]) => ({ speaker, start, end }));
const speakers = (w: Word[], t: Turn[]) => attribute(w, t).map(({ speaker }) => speaker);

t.test('attribute() gives a word to the turn that covers most of it', async (t) => {
  t.strictSame(speakers(words([0, 1], [1.7, 2.5], [1.2, 2.1]), turns([0, 0, 2], [1, 2, 4])), [0, 1, 0]);
});

t.test('attribute() gives a word beside every turn to the nearest within 0.5 s', async (t) => {
  t.strictSame(speakers(words([2.1, 2.2], [2.9, 3]), turns([0, 0, 2], [1, 3.1, 4])), [0, 1]);
});

t.test('attribute() gives a word far from every turn to the speaker of its neighbour', async (t) => {
  t.strictSame(speakers(words([0, 1], [5, 5.5], [20, 21]), turns([3, 0, 1.2], [4, 19, 21])), [3, 3, 4]);
  t.strictSame(speakers(words([0, 1], [9, 10]), turns([2, 9, 10])), [2, 2]);
  t.strictSame(speakers(words([0, 1]), []), [null]);
});

t.test('attribute() keeps the speaker who is talking where two turns cover a word alike', async (t) => {
  t.strictSame(speakers(words([0, 0.4], [2, 2.4], [2.5, 2.9]), turns([1, 0, 4], [0, 2, 4])), [1, 1, 1]);
});

t.test('attribute() lets a lone word inside another sentence join it', async (t) => {
  t.strictSame(
    speakers(words([0, 0.4], [0.5, 0.7], [0.8, 1.2]), turns([0, 0, 0.45], [1, 0.45, 0.72], [0, 0.72, 2])),
    [0, 1, 0],
    'a turn of its own stays',
  );
  t.strictSame(speakers(words([0, 0.4], [0.5, 0.7], [0.8, 1.2]), turns([0, 0, 0.45], [1, 0.3, 0.9], [0, 0.75, 2])), [0, 0, 0]);
});

t.test('attribute() keeps an interjection that stands apart', async (t) => {
  t.strictSame(speakers(words([0, 1], [2, 2.3], [3.2, 4]), turns([0, 0, 1.2], [1, 1.9, 2.4], [0, 3, 4])), [0, 1, 0]);
});
