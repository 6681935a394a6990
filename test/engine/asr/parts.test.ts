import t from 'tap';
import { inParts, middleOf, replaced, within } from '../../../engine/asr/parts.ts';
import type { Recogniser, WindowRequest } from '../../../engine/asr/recogniser.ts';
import { SAMPLE_RATE } from '../../../engine/types.ts';

t.test('within() clips spans to a range', async (t) => {
  const spans = [
    { start: 1, end: 3 },
    { start: 4, end: 9 },
    { start: 11, end: 12 },
  ];
  t.strictSame(within(spans, { start: 2, end: 10 }), [
    { start: 0, end: 1 },
    { start: 2, end: 7 },
  ]);
});

t.test('replaced() replaces the words of a span by clearly more words', async (t) => {
  const word = (text: string, start: number) => ({ text, start, end: start + 1, probability: 1 });
  const words = [word(' a', 0), word(' b', 6), word(' c', 8), word(' d', 12)];
  const stretch = { start: 5, end: 11 };
  t.strictSame(replaced(words, stretch, [word(' x', 0), word(' y', 2), word(' z', 4)], 1.3), [
    word(' a', 0),
    word(' x', 5),
    word(' y', 7),
    word(' z', 9),
    word(' d', 12),
  ]);
  t.strictSame(replaced(words, stretch, [word(' x', 0), word(' y', 2)], 1.3), words);
});

t.test('replaced() keeps words ordered and without overlap at the border of the span', async (t) => {
  const word = (text: string, start: number, end: number) => ({ text, start, end, probability: 1 });
  const words = [word(' a', 4, 5.8), word(' b', 6, 7), word(' c', 10.5, 12)];
  const heard = [word(' x', 0, 1.2), word(' y', 2, 3), word(' z', 5.7, 6)];
  t.strictSame(replaced(words, { start: 5, end: 11 }, heard, 1.3), [
    word(' a', 4, 5.8),
    word(' x', 5.8, 6.2),
    word(' y', 7, 8),
    word(' z', 10.44, 10.5),
    word(' c', 10.5, 12),
  ]);
});

t.test('replaced() gives every word a length, however little time is left between the words on the borders', async (t) => {
  const word = (text: string, start: number, end: number) => ({ text, start, end, probability: 1 });
  const heard = [word(' w', 0, 0.1), word(' x', 0.1, 0.3), word(' y', 0.5, 0.6), word(' z', 0.8, 0.82), word(' z', 0.82, 0.82)];
  for (const length of [0.05, 0.2, 0.83, 2])
    for (const early of [0, 0.3, 0.9])
      for (const late of [0, 0.4, 0.9]) {
        const stretch = { start: 5, end: 5 + length };
        const [a, b] = [word(' a', 3, 5 + early * length), word(' b', 5 + late * length, 9)];
        const placed = replaced([a, b], stretch, heard, 1.3);
        const label = `${length} s, words until ${early} and from ${late} of it on`;
        t.strictSame(placed.map(({ text }) => text).join(''), ' a w x y z z b', label);
        t.ok(
          placed.every(({ start, end }, i) => end - start > 0.005 && (i === 0 || start >= placed[i - 1]!.end - 1e-9)),
          `${label}: ${placed.map(({ start, end }) => `${start.toFixed(3)}-${end.toFixed(3)}`).join(' ')}`,
        );
      }
});

t.test('middleOf() returns the quietest point in the middle of a span', async (t) => {
  const levels = new Float32Array(900).map((_, i) => (i >= 500 && i < 510 ? -60 : i < 100 ? -90 : -20));
  t.ok(Math.abs(middleOf({ start: 0, end: 9 }, levels) - 5.05) < 0.05, 'near the middle, not at the quietest point overall');
});

/** Stub recogniser: returns one word in the middle of each window, named after its length, and records the requests. */
function measurer() {
  const asked: WindowRequest[] = [];
  const recogniser: Recogniser = {
    device: 'cpu',
    async recognise(request) {
      asked.push(request);
      const seconds = request.samples.length / SAMPLE_RATE;
      const words = [{ text: ` ${seconds.toFixed(1)}`, start: seconds / 2, end: seconds / 2 + 0.5, probability: 1 }];
      return { words, language: 'en', languages: [['en', 1]], noSpeech: 0, meanLogProb: -seconds, tried: [], uncovered: 1 };
    },
    close: async () => {},
  };
  return { recogniser, asked };
}

/** A tone with 0.5 s of silence from `quiet` on. */
function tone(seconds: number, quiet: number): Float32Array {
  return Float32Array.from({ length: seconds * SAMPLE_RATE }, (_, i) =>
    i >= quiet * SAMPLE_RATE && i < (quiet + 0.5) * SAMPLE_RATE ? 0 : 0.3 * Math.sin(i * 0.3),
  );
}

const window = (samples: Float32Array): WindowRequest => {
  const speech = [{ start: 0, end: samples.length / SAMPLE_RATE }];
  const certainty = new Float32Array(Math.ceil((samples.length / SAMPLE_RATE) * 10)).fill(1);
  return { job: 1, samples, speech, peak: 1, certainty, language: 'en', expected: null, vocabulary: '', accurate: false, first: true };
};

t.test('inParts() passes on a window that is short enough', async (t) => {
  const { recogniser, asked } = measurer();
  const heard = await inParts(recogniser, 25).recognise(window(tone(20, 9)), () => {});
  t.equal(asked.length, 1);
  t.equal(heard.words[0]!.start, 10);
});

t.test('inParts() cuts a longer window where it is quiet, with all words at their times', async (t) => {
  const { recogniser, asked } = measurer();
  const heard = await inParts(recogniser, 25).recognise(window(tone(30, 12)), () => {});
  t.equal(asked.length, 2);
  const cut = asked[0]!.samples.length / SAMPLE_RATE;
  t.ok(cut > 12 && cut < 12.5, `cut at ${cut} s`);
  t.strictSame(
    asked.map(({ speech }) => speech.map(({ start, end }) => Math.round((end - start) * 100) / 100)),
    [[Math.round(cut * 100) / 100], [Math.round((30 - cut) * 100) / 100]],
  );
  t.ok(asked.every(({ first }) => first));
  t.strictSame(
    heard.words.map(({ start }) => Math.round(start * 10) / 10),
    [Math.round(cut * 5) / 10, Math.round((cut + (30 - cut) / 2) * 10) / 10],
  );
  t.equal(Math.round(heard.meanLogProb), -15, 'the mean over all words');
  t.equal(heard.uncovered, 2);
});

t.test('replaced() shortens a word on the border that covers most of the span', async (t) => {
  const word = (text: string, start: number, end: number) => ({ text, start, end, probability: 1 });
  const heard = [word(' x', 0, 1), word(' y', 2, 3)];
  t.strictSame(replaced([word(' a', 0, 2), word(' b', 3, 20)], { start: 2, end: 8 }, heard, 1.3), [
    word(' a', 0, 2),
    word(' x', 2, 3),
    word(' y', 4, 5),
    word(' b', 8, 20),
  ]);
  t.strictSame(replaced([word(' a', 0, 20), word(' b', 22, 23)], { start: 14, end: 20 }, heard, 1.3), [
    word(' a', 0, 14),
    word(' x', 14, 15),
    word(' y', 16, 17),
    word(' b', 22, 23),
  ]);
  t.strictSame(replaced([word(' a', 0, 20)], { start: 11, end: 17 }, [], 0), [word(' a', 0, 20)], 'nothing was heard');
});

t.test('replaced() shortens a word that reaches further into the span than a word takes, and keeps the time of others', async (t) => {
  const word = (text: string, start: number, end: number) => ({ text, start, end, probability: 1 });
  const heard = [word(' x', 0, 1), word(' y', 2, 3), word(' z', 3.5, 4.8)];
  const stretch = { start: 5, end: 10 };
  t.strictSame(replaced([word(' a', 7.6, 21)], stretch, heard, 1.3), [
    word(' x', 5, 6),
    word(' y', 7, 8),
    word(' z', 8.5, 9.8),
    word(' a', 10, 21),
  ]);
  t.strictSame(replaced([word(' a', 0, 7)], stretch, heard, 1.3), [
    word(' a', 0, 5),
    word(' x', 5, 6),
    word(' y', 7, 8),
    word(' z', 8.5, 9.8),
  ]);
  t.strictSame(replaced([word(' a', 9, 12)], stretch, heard, 1.3), [
    word(' x', 5, 6),
    word(' y', 7, 8),
    word(' z', 8.5, 9),
    word(' a', 9, 12),
  ]);
});
