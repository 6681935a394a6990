import { amplified } from '../loudness.ts';
import { matched } from './halves.ts';
import { FRAMES_PER_WINDOW, HOP_SAMPLES, LOCAL_SPEAKERS, type Local } from './pyannote.ts';

/*
 * The model hears a window relative to its loudest sounds, and nothing far below full scale: the slam of a door, or a near voice, hides one 40 dB
 * below it for seconds. It finds that voice in the same window if what is louder is turned down. The limits are by reasoning, not tuned; figures are in
 * docs/decisions/diarization.md.
 */
const QUIET_SHARE = 0.05; // quantile of a window's frame energies that counts as quiet
const MIN_ABOVE_QUIET = 10 ** 1.2; // energy relative to the quiet frames above which a frame without speech may hide some, …
const MIN_ENERGY = 1e-9; // … and mean square (-90 dBFS): less is the noise of 16 bits
const MIN_SOUND_FRAMES = 60; // of sound almost on end, 1 s, from which on a window is levelled: breaths are shorter
const MAX_GAP_FRAMES = 12; // within it, 0.2 s
const MIN_HIDDEN_FRAMES = 24; // of speech on end that the result must have more: 0.4 s
const MIN_LOUD = 10 ** 4; // energy relative to theirs of the frame that may have hidden them
const FAINT_ENERGY = 1e-5; // mean square (-50 dBFS) that hardly a frame of a faint window exceeds, which the model takes for silence
const LOUD_SHARE = 0.95; // quantile of a window's frame energies that counts as loud
const MAX_ABOVE_HIDDEN = 10; // energy relative to theirs to which louder frames are turned down
const LEVEL = 10 ** (-30 / 20); // RMS of the hidden frames in the result

/** A window in which what may hide a voice is turned down, or which is amplified if it is faint; null if it hides nothing. */
export function levelled(samples: Float32Array, { speech }: Local): Float32Array | null {
  const frames = Math.min(FRAMES_PER_WINDOW, Math.floor(samples.length / HOP_SAMPLES));
  const energies = Float64Array.from({ length: frames }, (_, frame) => meanSquare(samples, frame * HOP_SAMPLES));
  const sorted = energies.toSorted();
  const at = (share: number) => sorted[Math.floor(share * (frames - 1))] ?? 0;
  const least = Math.max(at(QUIET_SHARE) * MIN_ABOVE_QUIET, MIN_ENERGY);
  const isHidden = (frame: number) => energies[frame]! > least && speech[frame]! < 128;
  if (longestSound(isHidden, frames) < MIN_SOUND_FRAMES) return null;
  const hidden = energies.filter((_, frame) => isHidden(frame)).sort();
  const level = hidden[Math.floor(hidden.length / 2)]!;
  if (Math.max(level, at(LOUD_SHARE)) >= FAINT_ENERGY && at(1) <= level * MIN_LOUD) return null;
  const gains = energies.map((energy) => (LEVEL / Math.sqrt(level)) * Math.min(1, Math.sqrt((MAX_ABOVE_HIDDEN * level) / energy)));
  return amplified(samples.slice(), gains, HOP_SAMPLES);
}

/** Frames of the longest sound, with short gaps in it. */
function longestSound(sounds: (frame: number) => boolean, frames: number): number {
  let [first, last, longest] = [0, Number.NEGATIVE_INFINITY, 0];
  for (let frame = 0; frame < frames; frame++) {
    if (!sounds(frame)) continue;
    if (frame - last > MAX_GAP_FRAMES) first = frame;
    last = frame;
    longest = Math.max(longest, last - first + 1);
  }
  return longest;
}

/** The outputs of a window and of its levelled version as one: in each frame what has more speech, if 0.4 s on end were hidden. */
export function either(whole: Local, other: Local): Local {
  let [run, longest] = [0, 0];
  for (const [frame, probability] of other.speech.entries()) {
    run = probability >= 128 && whole.speech[frame]! < 128 ? run + 1 : 0;
    longest = Math.max(longest, run);
  }
  if (longest < MIN_HIDDEN_FRAMES) return whole;
  const speech = whole.speech.slice();
  const speakers = new Uint8Array(whole.speakers.length);
  matched(whole.speakers, other.speakers, speakers);
  for (let frame = 0; frame < speech.length; frame++) {
    const from = frame * LOCAL_SPEAKERS;
    if (other.speech[frame]! > speech[frame]!) speech[frame] = other.speech[frame]!;
    else speakers.set(whole.speakers.subarray(from, from + LOCAL_SPEAKERS), from);
  }
  return { speakers, speech };
}

function meanSquare(samples: Float32Array, from: number): number {
  let sum = 0;
  for (let i = from; i < from + HOP_SAMPLES; i++) sum += samples[i]! ** 2;
  return sum / HOP_SAMPLES;
}
