import t from 'tap';
import { snapToSound } from '../../../engine/diarization/snap-turns.ts';
import { levelsOf } from '../../../engine/loudness.ts';
import type { Recording } from '../../../engine/types.ts';

const FRAME = 0.016875; // seconds
const seconds = (turns: { start: number; end: number }[]) => turns.map(({ start, end }) => [start, end]);

/** Levels every 10 ms: loud within the given spans (seconds), quiet elsewhere. */
function levels(length: number, loud: number, quiet: number, spans: readonly [number, number][]): Float32Array {
  return Float32Array.from({ length: length * 100 }, (_, i) => (spans.some(([a, b]) => i >= a * 100 && i < b * 100) ? loud : quiet));
}

/** Speaker counts: one throughout, less certain within the given spans (seconds). */
function speakerCounts(length: number, doubts: readonly [number, number][]): Float32Array {
  return Float32Array.from({ length: Math.ceil(length / FRAME) }, (_, i) =>
    doubts.some(([a, b]) => i * FRAME >= a && i * FRAME < b) ? 0.6 : 1,
  );
}

t.test('levelsOf() is in dB of full scale, every 10 ms to the end', async (t) => {
  const samples = Float32Array.from({ length: 16_000 * 61 + 80 }, (_, i) => (i < 160 ? 0 : 0.1));
  const recording = { length: samples.length, read: async (_, start, end) => samples.slice(start, end) } as Recording;
  const found = await levelsOf(recording, 'mix');
  t.equal(found.length, 6101);
  t.ok(found[0]! < -150 && Math.abs(found[1]! + 20) < 0.01 && Math.abs(found[6100]! + 20) < 0.01);
  const stop = new AbortController();
  stop.abort(new Error('deleted'));
  await t.rejects(levelsOf(recording, 'mix', stop.signal), { message: 'deleted' });
});

t.test('snapToSound() ends a turn 40 ms after its sound', async (t) => {
  const turn = { speaker: 0, start: 0.5, end: 2.5 };
  const sound = levels(3, -20, -60, [[0.8, 2.25]]);
  const unsure = speakerCounts(3, [
    [0.3, 0.85],
    [2.2, 2.7],
  ]);
  t.strictSame(seconds(snapToSound([turn], sound, unsure)), [[0.76, 2.29]]);
});

t.test('snapToSound() removes a long pause from a turn if the model is uncertain, but not a short one', async (t) => {
  const turn = { speaker: 3, start: 0, end: 4 };
  const spoken: [number, number][] = [
    [0, 1],
    [1.25, 2],
    [2.5, 4],
  ];
  const doubts: [number, number][] = [
    [1, 1.25],
    [2, 2.5],
  ];
  const found = snapToSound([turn], levels(4, -20, -60, spoken), speakerCounts(4, doubts));
  t.strictSame(found, [
    { speaker: 3, start: 0, end: 2 },
    { speaker: 3, start: 2.5, end: 4 },
  ]);
  t.strictSame(
    snapToSound([turn], levels(4, -20, -60, spoken), speakerCounts(4, [])),
    [turn],
    'annotators label such a pause as speech, and so does the model',
  );
});

t.test('snapToSound() keeps a turn whole in steady noise, and in silence', async (t) => {
  const turn = { speaker: 0, start: 0.2, end: 1.7 };
  const unsure = speakerCounts(2, [[0, 2]]);
  t.strictSame(snapToSound([turn], levels(2, -30, -30, []), unsure), [turn]);
  t.strictSame(snapToSound([turn], levels(2, -180, -180, []), unsure), [turn]);
});

for (const decibels of [10, 20, 30])
  t.test(`snapToSound() finds pauses and edges in noise ${decibels} dB below the voice`, async (t) => {
    const turn = { speaker: 0, start: 0, end: 3 };
    const sound = levels(3, -20, -20 - decibels, [
      [0.2, 1],
      [1.5, 3],
    ]);
    const noisy = sound.map((level, i) => level + (i % 3) / 2 - 0.5);
    const unsure = speakerCounts(3, [
      [0, 0.2],
      [1, 1.5],
    ]);
    t.strictSame(seconds(snapToSound([turn], noisy, unsure)), [
      [0.16, 1],
      [1.5, 3],
    ]);
  });

t.test('snapToSound() ignores sounds shorter than 30 ms', async (t) => {
  const turn = { speaker: 0, start: 0.5, end: 2.5 };
  const start = (length: number) => {
    const sound = levels(3, -20, -60, [
      [0.6, 0.6 + length],
      [0.8, 2.5],
    ]);
    return snapToSound([turn], sound, speakerCounts(3, [[0.3, 0.85]]))[0]!.start;
  };
  t.equal(start(0.02), 0.76);
  t.equal(start(0.04), 0.56);
});

t.test('snapToSound() keeps a part between two pauses from 0.1 s on', async (t) => {
  const turn = { speaker: 0, start: 0, end: 4 };
  const parts = (steps: number) => {
    const sound = levels(4, -20, -60, [
      [0, 1],
      [1.5, 1.5 + steps / 100],
      [2, 4],
    ]);
    return seconds(snapToSound([turn], sound, speakerCounts(4, [[1, 2]])));
  };
  t.strictSame(parts(9), [
    [0, 1],
    [2, 4],
  ]);
  t.strictSame(parts(12), [
    [0, 1],
    [1.5, 1.62],
    [2, 4],
  ]);
});
