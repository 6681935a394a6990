import { SAMPLE_RATE } from '../types.ts';

/*
 * What holds for the segmentation model of pyannote, segmentation-3.0, and was measured with it. Another model needs a file like this one.
 * It turns 10 s of samples into 589 frames of 7 classes: the powerset of at most 2 of 3 local speakers.
 */
export const WINDOW_SAMPLES = 160_000;
export const FRAMES_PER_WINDOW = 589;
export const HOP_SAMPLES = 270; // from frame to frame
export const FIELD_SAMPLES = 991; // receptive field of a frame
export const LOCAL_SPEAKERS = 3;
export const CLASSES = 7;
/** The local speakers of each class, as bits. */
export const CLASS_SPEAKERS = [0b000, 0b001, 0b010, 0b100, 0b011, 0b101, 0b110];

export const FRAME_SECONDS = HOP_SAMPLES / SAMPLE_RATE; // from frame to frame
export const FIRST_FRAME_SECONDS = FIELD_SAMPLES / SAMPLE_RATE / 2; // centre of the first frame

/**
 * Frames between windows, so that they add up without resampling: 5.9 s, as good as 5 or 4 (DER of 35 conversations of three to seven minutes 5.7 %; 6.75 s: 6.0 %).
 */
export const STEP_FRAMES = 350;
/** The same in recordings up to SHORT_SAMPLES, where one window more or less decides: 2.5 s. */
export const SHORT_STEP_FRAMES = 148;
export const SHORT_SAMPLES = 60 * SAMPLE_RATE;
/** The same where only speech is looked for: 8.4 s, so that windows overlap by a little more than their unreliable edges. */
export const SPEECH_STEP_FRAMES = 500;
export const EDGE_FRAMES = Math.round(2.5 / FRAME_SECONDS); // over which trust grows from the ends of a window
export const WINDOWS_PER_BATCH = 2; // four take 14 % less time and twice the memory

export const ACTIVE_PROBABILITY = 0.5; // from which on a speaker is active
export const CERTAIN_SPEAKERS = 0.9; // speakers at once, from which on a quiet place is speech all the same
export const LOCAL_ACTIVE_PROBABILITY = 0.3; // highest probability of a local speaker below which it is nobody
/** Local speakers of neighbouring windows are one when they are active together for so many frames, and for this share of the less active one. */
export const MIN_SHARED_FRAMES = 6;
export const MIN_SHARED_PORTION = 0.5;
export const MIN_VOTES = 0.1; // sum of probabilities below which nobody speaks
