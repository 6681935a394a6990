import t from 'tap';
import { diarize } from '../../../engine/diarization/diarize.ts';
import { FRAMES_PER_WINDOW, HOP_SAMPLES, LOCAL_SPEAKERS, type Local } from '../../../engine/diarization/pyannote.ts';
import type { Activity } from '../../../engine/diarization/segmentation.ts';
import type { Recording } from '../../../engine/types.ts';

const PIECE = 240; // frames: 4.05 s, of which …
const GAP = [100, 104] as const; // … these are silent, so that the active frames fit into one excerpt
const PAUSE = 20;

/** One speaker with two long excerpts. */
function twoPieces(): Activity {
  const speaks = (frame: number) =>
    frame % (PIECE + PAUSE) < PIECE && (frame % (PIECE + PAUSE) < GAP[0] || frame % (PIECE + PAUSE) >= GAP[1]);
  const local: Local = { speakers: new Uint8Array(FRAMES_PER_WINDOW * LOCAL_SPEAKERS), speech: new Uint8Array(FRAMES_PER_WINDOW) };
  for (let frame = 0; frame < 2 * PIECE + PAUSE; frame++) {
    if (!speaks(frame)) continue;
    local.speakers[frame * LOCAL_SPEAKERS] = 255;
    local.speech[frame] = 255;
  }
  return { step: FRAMES_PER_WINDOW, total: FRAMES_PER_WINDOW, locals: [local] };
}

t.test('diarize() embeds exactly the samples of each excerpt, however long an excerpt with gaps is', async (t) => {
  const length = (FRAMES_PER_WINDOW + 4) * HOP_SAMPLES;
  const samples = Float32Array.from({ length }, (_, i) => i); // each value is its own position
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
  const embedded: number[][] = [];
  await diarize(
    twoPieces(),
    recording,
    'mix',
    async (excerpts) => {
      t.equal(excerpts.length, 2);
      t.equal(excerpts[1]!.length, excerpts[0]!.length);
      embedded.push(...excerpts.map((excerpt) => [...excerpt]));
      return excerpts.map(() => new Float32Array(192).fill(192 ** -0.5));
    },
    { speakers: null },
  );
  t.equal(embedded.length, 2);
  for (const excerpt of embedded)
    t.ok(
      excerpt.every((position, i) => position === excerpt[0]! + i),
      `the excerpt at sample ${excerpt[0]} is not contiguous`,
    );
});
