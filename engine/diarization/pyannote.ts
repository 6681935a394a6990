import { SAMPLE_RATE } from '../types.ts';

/*
 * Facts and thresholds of pyannote's segmentation-3.0, measured with it. Another model needs its own file. It turns 10 s of samples into
 * 589 frames of 7 classes: the powerset of at most 2 of 3 local speakers.
 */
export const WINDOW_SAMPLES = 160_000;
export const FRAMES_PER_WINDOW = 589;
export const HOP_SAMPLES = 270; // between frames
export const FIELD_SAMPLES = 991; // receptive field of a frame
export const LOCAL_SPEAKERS = 3;
/** All orders of the local speakers. */
export const ORDERS = [
  [0, 1, 2],
  [0, 2, 1],
  [1, 0, 2],
  [1, 2, 0],
  [2, 0, 1],
  [2, 1, 0],
] as const;
export const CLASSES = 7;
/** The local speakers of each class, as bits. */
export const CLASS_SPEAKERS = [0b000, 0b001, 0b010, 0b100, 0b011, 0b101, 0b110];

/** Output of one window, as probabilities in 1/255. */
export interface Local {
  /** [589 x 3] row-major: activity of each local speaker. */
  speakers: Uint8Array;
  /** [589] anybody speaks. */
  speech: Uint8Array;
}

export const FRAME_SECONDS = HOP_SAMPLES / SAMPLE_RATE; // between frames
export const FIRST_FRAME_SECONDS = FIELD_SAMPLES / SAMPLE_RATE / 2; // centre of the first frame

/**
 * Frames between windows, which are aligned to the frames so that no resampling is needed: 5.9 s, as good as 5 or 4 s (DER of 35
 * conversations of three to seven minutes: 5.7 %; with 6.75 s 6.0 %).
 */
export const STEP_FRAMES = 350;
/** The same for recordings up to SHORT_SAMPLES, where each window matters more: 2.5 s. */
export const SHORT_STEP_FRAMES = 148;
export const SHORT_SAMPLES = 60 * SAMPLE_RATE;
/** The same for voice activity detection alone: 8.4 s, so that windows overlap by slightly more than their unreliable edges. */
export const SPEECH_STEP_FRAMES = 500;
export const EDGE_FRAMES = Math.round(2.5 / FRAME_SECONDS); // over which the confidence grows from the ends of a window
export const WINDOWS_PER_BATCH = 2; // four take 14 % less time and twice the memory

export const ACTIVE_PROBABILITY = 0.5; // above which a speaker is active
export const CERTAIN_SPEAKERS = 0.9; // number of simultaneous speakers above which a quiet passage counts as speech
export const LOCAL_ACTIVE_PROBABILITY = 0.3; // a local speaker whose highest probability is below this does not exist
/**
 * Local speakers of adjacent windows are the same if both are active for at least this many frames, and for this share of the less active
 * one.
 */
export const MIN_SHARED_FRAMES = 6;
export const MIN_SHARED_PORTION = 0.5;
export const MIN_VOTES = 0.1; // sum of probabilities below which nobody is active

/** Start of a frame in seconds, from its centre. */
export function startOf(frame: number): number {
  return frame === 0 ? 0 : (frame - 0.5) * FRAME_SECONDS + FIRST_FRAME_SECONDS;
}

/** The frame that contains a time in seconds. */
export function frameAt(seconds: number): number {
  return Math.max(0, Math.round((seconds - FIRST_FRAME_SECONDS) / FRAME_SECONDS));
}
