import t from 'tap';
import { AttentionStore } from '../../../../../engine/asr/whisper/timing/attention-store.ts';
import { beginnings } from '../../../../../engine/asr/whisper/timing/dtw.ts';

const FRAMES = 60;
const HEADS = 2;
const shares = new AttentionStore();

/** Attention of tokens that each attend to one range of frames, [heads x frames] each. */
function looking(stretches: [number, number][]): Uint8Array[] {
  return stretches.map(([first, end]) => {
    const row = new Float32Array(HEADS * FRAMES).fill(0.001);
    for (let head = 0; head < HEADS; head++) row.fill(0.1, head * FRAMES + first, head * FRAMES + end);
    return shares.keep(row);
  });
}

const all = Int32Array.from({ length: FRAMES }, (_, i) => i);

t.test('beginnings() finds the frame at which the attention of each token begins', async (t) => {
  t.strictSame(
    [
      ...beginnings(
        looking([
          [0, 12],
          [12, 30],
          [30, 60],
        ]),
        HEADS,
        all,
      ),
    ],
    [0, 12, 30],
  );
});

t.test('beginnings() finds words of 5 frames after each other', async (t) => {
  const words: [number, number][] = [
    [0, 20],
    [20, 25],
    [25, 30],
    [30, 35],
    [35, 60],
  ];
  t.strictSame([...beginnings(looking(words), HEADS, all)], [0, 20, 25, 30, 35]);
});

t.test('beginnings() uses only the given frames', async (t) => {
  const speech = all.filter((frame) => frame < 20 || frame >= 40);
  const begin = beginnings(
    looking([
      [0, 20],
      [40, 60],
    ]),
    HEADS,
    speech,
  );
  t.strictSame([...begin], [0, 20], 'indices count the given frames');
  t.equal(speech[begin[1]!], 40, 'the second word begins after the pause');
});

t.test('beginnings() spreads more tokens than frames evenly', async (t) => {
  const rows = looking(Array.from({ length: 6 }, () => [0, 1]));
  t.strictSame([...beginnings(rows, HEADS, all.slice(0, 3))], [0, 0, 1, 1, 2, 2]);
});

t.test('beginnings() increase with every token', async (t) => {
  const begin = beginnings(
    looking([
      [30, 60],
      [0, 30],
      [10, 20],
      [40, 50],
    ]),
    HEADS,
    all,
  );
  for (let i = 1; i < begin.length; i++) t.ok(begin[i]! > begin[i - 1]!, `token ${i}`);
});
