import t from 'tap';
import { findSpeech, peak, speechBetween } from '../../../engine/asr/speech.ts';

const STEP = 0.01;

/** Probabilities every 10 ms, from consecutive [value, frames] pairs. */
function curve(...parts: [value: number, frames: number][]): Float32Array {
  return Float32Array.from(parts.flatMap(([value, frames]) => new Array<number>(frames).fill(value)));
}

function spansOf(...parts: [number, number][]) {
  const round = (seconds: number) => Math.round(seconds * 100) / 100;
  return findSpeech(curve(...parts), STEP, STEP / 2).spans.map(({ start, end }) => [round(start), round(end)]);
}

t.test('findSpeech() returns the spans with a probability above 0.5', async (t) => {
  t.strictSame(spansOf([0, 50], [0.9, 100], [0, 50]), [[0.5, 1.5]]);
  t.strictSame(spansOf([0.9, 30]), [[0, 0.3]], 'to the very end');
  t.strictSame(spansOf([0, 100]), []);
  t.strictSame(spansOf([0, 50], [0.45, 100], [0, 50]), []);
});

t.test('findSpeech() ignores bursts shorter than 0.15 s', async (t) => {
  t.strictSame(spansOf([0, 50], [0.9, 14], [0, 50]), []);
  t.strictSame(spansOf([0, 50], [0.9, 16], [0, 50]), [[0.5, 0.66]]);
});

t.test('findSpeech() extends spans until speech has faded out, and merges spans closer than 0.1 s', async (t) => {
  t.strictSame(spansOf([0, 40], [0.3, 10], [0.4, 10], [0.9, 40], [0.4, 10], [0.3, 10], [0, 40]), [[0.5, 1.1]]);
  t.strictSame(spansOf([0.9, 50], [0, 8], [0.9, 50]), [[0, 1.08]]);
  t.strictSame(spansOf([0.9, 50], [0, 12], [0.9, 50]).length, 2);
});

t.test('peak() is the highest probability between two times', async (t) => {
  const speech = findSpeech(curve([0.2, 100], [0.9, 100], [0.3, 100]), STEP, STEP / 2);
  t.ok(Math.abs(peak(speech, { start: 1.2, end: 1.4 }) - 0.9) < 1e-6);
  t.ok(Math.abs(peak(speech, { start: 0.1, end: 0.5 }) - 0.2) < 1e-6);
  t.ok(Math.abs(peak(speech, { start: 0.5, end: 2.5 }) - 0.9) < 1e-6, 'in the middle');
});

t.test('speechBetween() sums the seconds of speech between two times', async (t) => {
  t.equal(
    speechBetween(
      [
        { start: 1, end: 2 },
        { start: 4, end: 6 },
      ],
      1.5,
      5,
    ),
    1.5,
  );
});
