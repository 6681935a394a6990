import { fileURLToPath } from 'node:url';
import { decode } from '../../../engine/audio/decode.ts';
import type { Origin, Recording } from '../../../engine/types.ts';
import { seeded } from '../../support/seeded.ts';

export const clip = (name: string) => fileURLToPath(new URL(`../../fixtures/audio/${name}`, import.meta.url));

/** Amplitude at a time in seconds. */
export type Wave = (t: number) => number;

/** The mean of sine waves. */
export const sine =
  (...hertz: number[]): Wave =>
  (t) =>
    hertz.reduce((sum, f) => sum + Math.sin(2 * Math.PI * f * t), 0) / hertz.length;

/** A recording in memory. */
export function recordingOf(...channels: Float32Array[]): Recording & { origins?: Origin[] } {
  const mix = channels[0]!.map((_, i) => channels.reduce((sum, channel) => sum + channel[i]!, 0) / channels.length);
  return {
    channels: channels.length,
    length: mix.length,
    decoded: Promise.resolve(mix.length),
    read: async (channel, start, end) => (channel === 'mix' ? mix : channels[channel]!).slice(start, end),
    close: async () => {},
  };
}

/** The samples of a clip. */
export async function voice(path: string): Promise<Float32Array> {
  const recording = await decode(path);
  try {
    return await recording.read('mix', 0, await recording.decoded);
  } finally {
    await recording.close();
  }
}

export const speech = (await voice(clip('en_falcon_3spk.wav'))).slice(0, 160_000);
export const other = (await voice(clip('en_jfk.mp3'))).slice(0, 160_000);
export const scaled = (samples: Float32Array, gain: number) => samples.map((x) => x * gain);
export const sum = (a: Float32Array, b: Float32Array) => a.map((x, i) => x + b[i]!);

/** White noise of 5 s, unrelated to that of other seeds. `rms` is its level, or the level of each frame of 30 ms. */
export function noise(seed: number, rms: number | ((frame: number) => number)): Float32Array {
  const { random } = seeded(seed);
  const level = typeof rms === 'number' ? () => rms : rms;
  return Float32Array.from({ length: 80_000 }, (_, i) => level(Math.floor(i / 480)) * Math.sqrt(3) * (2 * random() - 1));
}
