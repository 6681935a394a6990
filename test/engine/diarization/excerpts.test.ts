import t from 'tap';
import { diarize } from '../../../engine/diarization/diarize.ts';
import { type Activity, FRAMES, HOP, LOCAL, type Local } from '../../../engine/diarization/segmentation.ts';
import type { Recording } from '../../../engine/types.ts';

const PIECE = 240; // frames: a little over four seconds, of which …
const GAP = [100, 104] as const; // … these are silent: the frames in which the voice is active are few enough for one piece
const PAUSE = 20;

/** One voice that says two long pieces. */
function twoPieces(): Activity {
  const speaks = (frame: number) =>
    frame % (PIECE + PAUSE) < PIECE && (frame % (PIECE + PAUSE) < GAP[0] || frame % (PIECE + PAUSE) >= GAP[1]);
  const local: Local = { voices: new Uint8Array(FRAMES * LOCAL), speech: new Uint8Array(FRAMES) };
  for (let frame = 0; frame < 2 * PIECE + PAUSE; frame++) {
    if (!speaks(frame)) continue;
    local.voices[frame * LOCAL] = 255;
    local.speech[frame] = 255;
  }
  return { step: FRAMES, total: FRAMES, locals: [local] };
}

t.test('diarize() embeds the sound of each piece and of no other, however long a piece with gaps is', async (t) => {
  const length = (FRAMES + 4) * HOP;
  const samples = Float32Array.from({ length }, (_, i) => i); // each sample tells its place
  const recording: Recording = {
    channels: 1,
    length,
    decoded: Promise.resolve(length),
    read: async (_channel, start, end, room = new Float32Array(end - start)) => {
      const part = samples.subarray(start, Math.min(end, start + room.length));
      room.set(part);
      return room.subarray(0, part.length);
    },
    close: async () => {},
  };
  const heard: number[][] = [];
  await diarize(
    twoPieces(),
    recording,
    'mix',
    async (pieces) => {
      t.equal(pieces.length, 2);
      t.equal(pieces[1]!.length, pieces[0]!.length);
      heard.push(...pieces.map((piece) => [...piece]));
      return pieces.map(() => new Float32Array(192).fill(192 ** -0.5));
    },
    { speakers: null },
  );
  t.equal(heard.length, 2);
  for (const piece of heard)
    t.ok(
      piece.every((place, i) => place === piece[0]! + i),
      `a piece from sample ${piece[0]} on is torn`,
    );
});
