import t from 'tap';
import { SIZE } from '../../../engine/diarization/embedding.ts';
import type { Piece } from '../../../engine/diarization/excerpts.ts';
import { assign } from '../../../engine/diarization/label.ts';
import type { Track } from '../../../engine/diarization/tracks.ts';

const [ANN, BOB] = [0, 1];

/** A print that is so like one voice and so like the other. */
const print = (ann: number, bob: number) => Float32Array.from({ length: SIZE }, (_, k) => (k === ANN ? ann : k === BOB ? bob : 0));
const VOICES = [print(1, 0), print(0, 1)];

/** A track that is active in its pieces. */
function track(first: number, end: number, ...active: Piece[]): Track {
  const probability = new Float32Array(end - first);
  for (const piece of active) probability.fill(0.9, piece.first - first, piece.end - first);
  return { first, probability };
}

const LONG = { track: 0, first: 0, end: 150 };
const short = (track: number) => ({ track, first: 170, end: 190 });

t.test('assign() gives a piece to the voice it is most like', async (t) => {
  const pieces = [LONG, { track: 1, first: 170, end: 320 }];
  const tracks = [track(0, 400, pieces[0]!), track(0, 400, pieces[1]!)];
  t.strictSame([...assign(pieces, tracks, [print(0.8, 0.2), print(0.41, 0.4)], VOICES)], [ANN, ANN], 'a long one by its print alone');
});

t.test('assign() gives a short piece of doubtful print to another voice than who was heard beside it as somebody else', async (t) => {
  const pieces = [LONG, short(1)];
  const prints = [print(0.8, 0.2), print(0.41, 0.4)];
  t.strictSame([...assign(pieces, [track(0, 400, LONG), track(0, 400, short(1))], prints, VOICES)], [ANN, BOB]);
  t.strictSame(
    [...assign(pieces, [track(0, 160, LONG), track(165, 400, short(1))], prints, VOICES)],
    [ANN, ANN],
    'not heard in one window',
  );
  t.strictSame(
    [...assign(pieces, [track(0, 400, LONG), track(0, 400, short(1))], [prints[0]!, print(0.7, 0.3)], VOICES)],
    [ANN, ANN],
    'no doubt',
  );
});

t.test('assign() gives a short piece of doubtful print to the voice that its own track has beside it', async (t) => {
  const pieces = [LONG, short(0)];
  const both = track(0, 400, LONG, short(0));
  t.strictSame([...assign(pieces, [both], [print(0.8, 0.2), print(0.4, 0.41)], VOICES)], [ANN, ANN]);
  t.strictSame([...assign(pieces, [both], [print(0.8, 0.2), print(0.3, 0.7)], VOICES)], [ANN, BOB], 'no doubt');
});

t.test('assign() takes two tracks that are active at once for two people', async (t) => {
  const pieces = [LONG, { track: 1, first: 100, end: 200 }];
  const tracks = [track(0, 400, pieces[0]!), track(0, 400, pieces[1]!)];
  t.strictSame([...assign(pieces, tracks, [print(0.8, 0.2), print(0.5, 0.1)], VOICES)], [ANN, BOB]);
});
