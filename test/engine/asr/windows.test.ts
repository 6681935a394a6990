import fc from 'fast-check';
import t from 'tap';
import { timeline } from '../../../engine/asr/timeline.ts';
import { packingFor, packWindows, quietestOf, readWindow } from '../../../engine/asr/windows.ts';
import type { Recording, Span, Speech } from '../../../engine/types.ts';
import { runs } from '../../support/property.ts';

const speechOf = (spans: Span[]): Speech => ({ frameStep: 0.1, frameStart: 0.05, probability: new Float32Array(0), spans });
const PACKING = packingFor(30);
const middle = async ({ start, end }: Span) => (start + end) / 2;
const pack = (spans: [number, number][], duration = 10_000) =>
  packWindows(speechOf(spans.map(([start, end]) => ({ start, end }))), 'mix', duration, middle, PACKING);
const near = (a: number, b: number) => Math.abs(a - b) < 1e-6;

/** Samples whose values encode their position, with one quiet range. */
function ramp(samples: number, quiet: [number, number] = [0, 0]): Recording {
  const value = (i: number) => (i >= quiet[0] && i < quiet[1] ? 0 : (i % 1000) / 1000 + 0.001);
  return {
    channels: 1,
    length: samples,
    decoded: Promise.resolve(samples),
    read: async (_, start, end, room = new Float32Array(end - start)) => {
      const read = room.subarray(0, Math.max(0, Math.min(end, samples) - start));
      for (let i = 0; i < read.length; i++) read[i] = value(start + i);
      return read;
    },
    close: async () => {},
  };
}

t.test('packWindows() keeps short pauses and shortens long ones to the padding', async (t) => {
  const [window, ...rest] = await pack([
    [1, 3],
    [4, 6],
    [20, 22],
  ]);
  t.equal(rest.length, 0);
  t.strictSame(window!.pieces, [
    { start: 0.75, end: 6.25 },
    { start: 19.75, end: 22.25 },
  ]);
  t.strictSame(window!.speech, [
    { start: 0.25, end: 2.25 },
    { start: 3.25, end: 5.25 },
    { start: 5.75, end: 7.75 },
  ]);
});

t.test('packWindows() gives a window the highest speech probability of all its pieces', async (t) => {
  const probability = new Float32Array(300).fill(0.1); // one value per 0.1 s
  probability.fill(0.6, 10, 30);
  probability.fill(0.9, 200, 220);
  const spans = [
    { start: 1, end: 3 },
    { start: 20, end: 22 },
  ];
  const [window] = await packWindows({ ...speechOf(spans), probability }, 'mix', 30, middle, PACKING);
  t.ok(near(window!.peak, Math.fround(0.9)), `${window!.peak}`);
});

t.test('packWindows() shortens a pause of more than a second', async (t) => {
  const seconds = async (pause: number) => {
    const [window] = await pack([
      [1, 3],
      [3 + pause, 6],
    ]);
    return window!.pieces.map(({ start, end }) => end - start);
  };
  t.strictSame(await seconds(0.9), [5.5]);
  t.strictSame(await seconds(1.25), [2.5, 2.25]);
});

t.test('packWindows() ends a full window at a clearly longer pause shortly before its end', async (t) => {
  const windows = await pack([
    [0, 12],
    [12.2, 22],
    [22.9, 28],
    [28.15, 40],
  ]);
  t.strictSame(
    windows.map(({ speech }) => speech.length),
    [2, 2],
    'at the pause of 0.9 s, not at the one of 0.15 s',
  );
});

t.test('packWindows() weighs one second of pause against ten of window length', async (t) => {
  const lengths = async (pause: number) => {
    const windows = await pack([
      [0, pause],
      [pause + 0.5, 27.5],
      [27.7, 40],
    ]);
    return windows.map(({ speech }) => speech.length);
  };
  t.strictSame(await lengths(25.5), [1, 2], 'a pause of 0.5 s instead of 0.2 s is worth 2 s');
  t.strictSame(await lengths(23), [2, 1], 'but not 4.5 s');
});

t.test('packWindows() gives a window the mean speech probability of every 0.1 s', async (t) => {
  const probability = new Float32Array(400).fill(0.5); // one value per 0.05 s
  probability.set([1, 0.75, 0.25, 0.25], 2);
  const speech = { ...speechOf([{ start: 0, end: 10 }]), frameStep: 0.05, frameStart: 0.025, probability };
  const [window] = await packWindows(speech, 'mix', 10, middle, PACKING);
  t.equal(window!.certainty!.length, 100);
  t.strictSame([...window!.certainty!.subarray(0, 4)], [0.5, 0.875, 0.25, 0.5]);
});

t.test('packWindows() cuts a span that exceeds a window at its quietest point', async (t) => {
  const windows = await packWindows(
    speechOf([{ start: 0, end: 50 }]),
    'mix',
    50,
    quietestOf(ramp(50 * 16_000, [23.5 * 16_000, 23.7 * 16_000]), 'mix'),
    PACKING,
  );
  t.equal(windows.length, 2);
  t.ok(Math.abs(windows[0]!.pieces[0]!.end - 23.6) < 0.1, `cut at ${windows[0]!.pieces[0]!.end}`);
});

t.test('packWindows() keeps every span whole, in order, once, in windows that are not too long', async () => {
  const gap = fc.double({ min: 0.1, max: 20, noNaN: true });
  const length = fc.double({ min: 0.15, max: 27, noNaN: true });
  await fc.assert(
    fc.asyncProperty(fc.array(fc.tuple(gap, length), { minLength: 1, maxLength: 40 }), async (steps) => {
      const spans: Span[] = [];
      for (const [gap, length] of steps)
        spans.push({ start: (spans.at(-1)?.end ?? 0) + gap, end: (spans.at(-1)?.end ?? 0) + gap + length });
      const windows = await packWindows(speechOf(spans), 'mix', spans.at(-1)!.end + 1, middle, PACKING);
      const back = windows.flatMap(({ pieces, speech }) => speech.map((span) => timeline(pieces).originalSpan(span)));
      const whole =
        back.length === spans.length && back.every((span, i) => near(span.start, spans[i]!.start) && near(span.end, spans[i]!.end));
      return whole && windows.every(({ pieces }) => timeline(pieces).seconds <= PACKING.longest + 1e-6);
    }),
    runs(200),
  );
});

t.test('timeline() maps window times to the time of the recording', async (t) => {
  const line = timeline([
    { start: 10, end: 12 },
    { start: 20, end: 25 },
  ]);
  t.equal(line.seconds, 7);
  t.strictSame([0, 1, 2, 3, 7, 9].map(line.original), [10, 11, 20, 21, 25, 25]);
  t.strictSame(line.originalSpan({ start: 1.5, end: 2 }), { start: 11.5, end: 12 }, 'an end on a seam maps to the time before it');
  t.strictSame(line.originalSpan({ start: 1.9, end: 2.5 }), { start: 20, end: 20.5 }, 'a word across a seam keeps its longer part');
  t.strictSame(line.originalSpan({ start: 1, end: 2.2 }), { start: 11, end: 12 });
});

t.test('readWindow() joins the samples of its pieces', async (t) => {
  const samples = await readWindow(
    ramp(100_000),
    {
      channel: 'mix',
      pieces: [
        { start: 0, end: 0.01 },
        { start: 1, end: 1.01 },
      ],
      speech: [],
    },
    new Float32Array(480_000),
  );
  t.equal(samples.length, 320);
  t.ok(near(samples[160]!, Math.fround(0.001)), 'the second piece begins at sample 16,000');
});
