import { FRAME_SAMPLES, foldedFrames, MARGIN_SAMPLES } from '../engine/asr/whisper/frames.ts';
import { decode } from '../engine/audio/ffmpeg.ts';
import { float32, openSession } from '../engine/runtime/session.ts';
import { englishClips, foreignClips } from './clips.ts';

const WINDOWS = 2; // the second one has other languages
const STEPS = 1500; // of a window
const FRAMES = 2 * STEPS;

/**
 * Loss of each attention head of an encoder that attends to means of distant frames, [layers][heads], on windows full of speech: the mean
 * of the outputs of models/build/whisper/probe.ts.
 * @param hop samples between frames
 * @param threads per operator
 */
export async function probeHeads(network: string, hop: number, threads?: number): Promise<number[][]> {
  const session = await openSession(network, { threads });
  try {
    const clips = [englishClips(), foreignClips()];
    const layers = session.outputs.map(() => [] as number[]);
    for (let i = 0; i < WINDOWS; i++) {
      const sound = await filled(
        clips[i % clips.length]!.map(({ path }) => path),
        FRAMES * hop,
      );
      const frames = foldedFrames(sound, hop, new Float32Array(FRAMES * FRAME_SAMPLES));
      const found = await session.run({ frames: float32(frames, [1, 4, FRAMES, FRAME_SAMPLES / 4]) });
      for (const [l, layer] of layers.entries())
        for (const [head, loss] of (found[`loss${l}`]!.data as Float32Array).entries()) layer[head] = (layer[head] ?? 0) + loss / WINDOWS;
    }
    return layers;
  } finally {
    await session.close();
  }
}

/** Recordings one after another until they fill `length` samples, between margins. */
async function filled(paths: readonly string[], length: number): Promise<Float32Array> {
  const sound = new Float32Array(length + 2 * MARGIN_SAMPLES);
  let at = 0;
  for (const path of paths) {
    if (at === length) break;
    const recording = await decode(path);
    try {
      const part = await recording.read('mix', 0, Math.min(await recording.decoded, length - at));
      sound.set(part, MARGIN_SAMPLES + at);
      at += part.length;
    } finally {
      await recording.close();
    }
  }
  return sound;
}
