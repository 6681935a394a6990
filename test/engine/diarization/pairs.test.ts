import t from 'tap';
import { pairsInWindows } from '../../../engine/diarization/pairs.ts';
import { FRAME_SECONDS, FRAMES_PER_WINDOW } from '../../../engine/diarization/pyannote.ts';
import type { Track } from '../../../engine/diarization/tracks.ts';

const track = (first: number, frames: number): Track => ({ first, probability: new Float32Array(frames) });

t.test('pairsInWindows() returns the excerpts that one window contains, and whether its model assigned them to one speaker', async (t) => {
  const tracks = [track(0, 2 * FRAMES_PER_WINDOW), track(100, FRAMES_PER_WINDOW), track(400, FRAMES_PER_WINDOW)];
  const excerpts = [
    { track: 0, first: 0, end: 100 },
    { track: 0, first: 450, end: 550 },
    { track: 1, first: 200, end: 260 },
    { track: 2, first: 600, end: 700 }, // no window contains its track and that of the one before
  ];
  const pairs = pairsInWindows(excerpts, tracks).map(({ a, b, joined, seconds }) => [a, b, joined, Math.round(seconds / FRAME_SECONDS)]);
  t.strictSame(pairs, [
    [0, 2, false, 60],
    [0, 1, true, 100],
    [2, 1, false, 60],
    [1, 3, false, 100],
  ]);
});

t.test('pairsInWindows() leaves out excerpts further apart than a window', async (t) => {
  const tracks = [track(0, 3 * FRAMES_PER_WINDOW)];
  const of = (end: number) =>
    pairsInWindows(
      [
        { track: 0, first: 10, end: 100 },
        { track: 0, first: 500, end },
      ],
      tracks,
    ).length;
  t.equal(of(10 + FRAMES_PER_WINDOW), 1);
  t.equal(of(11 + FRAMES_PER_WINDOW), 0);
});
