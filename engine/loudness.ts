import { type Recording, SAMPLE_RATE } from './types.ts';

/* Levels in dB of full scale, taken every 10 ms. */
export const STEP_SAMPLES = SAMPLE_RATE / 100;
const READ_SAMPLES = 60 * SAMPLE_RATE; // samples per read

const RUMBLE_HERTZ = 150; // below it there are hum and knocks, and only the fundamentals of voices
const HIGH_PASS = 1 / (1 + (2 * Math.PI * RUMBLE_HERTZ) / SAMPLE_RATE); // coefficient of each of two first-order high-pass filters

/** Level of a mean square in dB. `floor` is added, so that digital silence has a finite level: 1e-10 is -100 dB. */
export function decibels(meanSquare: number, floor = 1e-10): number {
  return 10 * Math.log10(meanSquare + floor);
}

/** Levels of a channel: 14 MB for ten hours. */
export async function levelsOf(recording: Recording, channel: number | 'mix', signal?: AbortSignal): Promise<Float32Array> {
  const levels = new Float32Array(Math.ceil(recording.length / STEP_SAMPLES));
  const buffer = new Float32Array(READ_SAMPLES);
  for (let at = 0; at < recording.length; at += READ_SAMPLES) {
    signal?.throwIfAborted();
    const samples = await recording.read(channel, at, at + READ_SAMPLES, buffer);
    for (let from = 0; from < samples.length; from += STEP_SAMPLES) {
      const to = Math.min(samples.length, from + STEP_SAMPLES);
      let sum = 0;
      for (let i = from; i < to; i++) sum += samples[i]! * samples[i]!;
      levels[(at + from) / STEP_SAMPLES] = decibels(sum / (to - from), 1e-18);
    }
  }
  return levels;
}

/** Levels after removing frequencies below RUMBLE_HERTZ. */
export function levelsAboveRumble(samples: Float32Array): Float32Array {
  const levels = new Float32Array(Math.floor(samples.length / STEP_SAMPLES));
  let x = 0;
  let y = 0;
  let z = 0;
  for (let step = 0; step < levels.length; step++) {
    let sum = 0;
    for (let i = step * STEP_SAMPLES; i < (step + 1) * STEP_SAMPLES; i++) {
      const before = y;
      y = HIGH_PASS * (y + samples[i]! - x);
      z = HIGH_PASS * (z + y - before);
      x = samples[i]!;
      sum += z * z;
    }
    levels[step] = decibels(sum / STEP_SAMPLES, 1e-12);
  }
  return levels;
}

/**
 * Multiplies samples, in place, by a gain per frame of some length that passes smoothly from frame to frame, and is nowhere above that of a
 * neighbour.
 */
export function amplified(samples: Float32Array, gains: Float64Array, frameSamples: number): Float32Array {
  const at = (frame: number) => gains[Math.max(0, Math.min(gains.length - 1, frame))]!;
  const least = gains.map((_, frame) => Math.min(at(frame - 1), at(frame), at(frame + 1)));
  const leastAt = (frame: number) => least[Math.max(0, Math.min(gains.length - 1, frame))]!;
  for (let i = 0; i < samples.length; i++) {
    const place = i / frameSamples - 0.5;
    const frame = Math.floor(place);
    samples[i]! *= leastAt(frame) + (place - frame) * (leastAt(frame + 1) - leastAt(frame));
  }
  return samples;
}
