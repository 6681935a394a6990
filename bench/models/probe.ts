import { FRAME_SAMPLES, foldedFrames, MARGIN_SAMPLES } from '../../engine/asr/whisper/frames.ts';
import { decode } from '../../engine/audio/decode.ts';
import { float32, openSession } from '../../engine/runtime/session.ts';
import { englishClips, foreignClips } from '../recordings/clips.ts';

const WINDOWS = 2; // the second one has other languages
const STEPS = 1500; // of a window
const FRAMES = 2 * STEPS;

/**
 * Runs an encoder of models/build/whisper/probe.ts on windows full of speech. Returns the mean of each output, by name.
 * @param hop samples between frames
 * @param threads per operator
 */
export async function probe(network: string, hop: number, threads?: number): Promise<Record<string, number[]>> {
  const session = await openSession(network, { threads });
  try {
    const clips = [englishClips(), foreignClips()];
    const means = session.outputs.map((name): [string, number[]] => [name, []]);
    for (let i = 0; i < WINDOWS; i++) {
      const sound = await filled(
        clips[i % clips.length]!.map(({ path }) => path),
        FRAMES * hop,
      );
      const frames = foldedFrames(sound, hop, new Float32Array(FRAMES * FRAME_SAMPLES));
      const found = await session.run({ frames: float32(frames, [1, 4, FRAMES, FRAME_SAMPLES / 4]) });
      for (const [name, mean] of means)
        for (const [j, value] of (found[name]!.data as Float32Array).entries()) mean[j] = (mean[j] ?? 0) + value / WINDOWS;
    }
    return Object.fromEntries(means);
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
