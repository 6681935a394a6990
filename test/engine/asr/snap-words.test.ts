import t, { type Test } from 'tap';
import type { Spoken } from '../../../engine/asr/recogniser.ts';
import { toSound as toLevels } from '../../../engine/asr/snap-words.ts';
import { levelsAboveRumble } from '../../../engine/loudness.ts';

const RATE = 16_000;

/** Three seconds of faint noise with a tone in each span, seconds. */
function tones(...spans: [start: number, end: number][]): Float32Array {
  return Float32Array.from({ length: 3 * RATE }, (_, i) => {
    const on = spans.some(([start, end]) => i >= start * RATE && i < end * RATE);
    return (on ? 0.2 * Math.sin(i * 0.3) : 0) + 0.001 * Math.sin(i * 1.7 + (i % 13));
  });
}

const toSound = (words: Spoken[], samples: Float32Array) => toLevels(words, levelsAboveRumble(samples));
const word = (start: number, end: number) => ({ text: ' word', probability: 1, start, end });

/** Edges may be off by 10 ms, the time for which the filter rings. */
function edges(t: Test, words: { start: number; end: number }[], wanted: [start: number, end: number][], message = 'edges'): void {
  const near = (a: number, b: number) => Math.abs(a - b) < 0.0101;
  t.ok(
    words.length === wanted.length && words.every(({ start, end }, i) => near(start, wanted[i]![0]) && near(end, wanted[i]![1])),
    message,
    {
      found: words.map(({ start, end }) => [start, end]),
      wanted,
    },
  );
}

t.test('toSound() moves the edges of a word beside pauses to the start and end of its sound', async (t) => {
  edges(t, toSound([word(0.92, 1.66)], tones([1, 1.5])), [[1, 1.5]], 'inward');
  edges(t, toSound([word(1.02, 1.48)], tones([1, 1.5])), [[1, 1.5]], 'outward, as far as the sound continues');
});

t.test('toSound() keeps edges close to a neighbour, and the order of words', async (t) => {
  const snapped = toSound([word(0.9, 1.2), word(1.2, 1.7)], tones([1, 1.5]));
  edges(t, snapped, [
    [1, 1.2],
    [1.2, 1.5],
  ]);
});

t.test('toSound() moves the edges of words only where the space between them is 0.08 s or more', async (t) => {
  const sound = tones([1, 1.15], [1.35, 1.6]);
  const far = toSound([word(0.9, 1.2), word(1.3, 1.7)], sound);
  edges(t, far, [
    [1, 1.15],
    [1.35, 1.6],
  ]);
  const near = toSound([word(0.9, 1.22), word(1.28, 1.7)], sound);
  edges(t, near, [
    [1, 1.22],
    [1.28, 1.6],
  ]);
});

t.test('toSound() moves an edge outward while the sound lasts, but by no more than 0.03 s', async (t) => {
  const begin = (from: number, until: number) => {
    const sounds = (i: number) => i >= from && i < until && !(i >= 110 && i < 130); // quiet in the middle of the word
    const [snapped] = toLevels(
      [word(1, 1.4)],
      Float32Array.from({ length: 300 }, (_, i) => (sounds(i) ? -20 : -60)),
    );
    return [snapped!.start, snapped!.end];
  };
  t.strictSame(begin(98, 142), [0.98, 1.42]);
  t.strictSame(begin(90, 150), [0.97, 1.43]);
});

t.test('toSound() ignores clicks, and keeps a word without any sound unchanged', async (t) => {
  edges(t, toSound([word(0.8, 1.7)], tones([0.85, 0.86], [1, 1.5])), [[1, 1.5]]);
  edges(t, toSound([word(0.8, 1.7)], tones()), [[0.8, 1.7]]);
});

t.test('toSound() never moves an edge past the middle of the word or by more than 0.25 s', async (t) => {
  const [snapped] = toSound([word(0.5, 2.5)], tones([1.6, 1.7]));
  t.strictSame([snapped!.start, snapped!.end], [0.5, 2.5]);
});
