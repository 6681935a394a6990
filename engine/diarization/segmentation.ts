import { sharedSamples } from '../runtime/buffers.ts';
import { float32, type Session } from '../runtime/session.ts';
import type { Recording } from '../types.ts';

/** Facts of segmentation-3.0 (pyannote): 10 s of samples to 589 frames of 7 classes, the powerset of up to 2 of 3 local speakers. */
export const RATE = 16_000;
export const WINDOW = 160_000; // samples
export const FRAMES = 589;
export const HOP = 270; // samples between frames
export const FIELD = 991; // receptive field of a frame, samples
export const LOCAL = 3; // local speakers
const CLASSES = 7;
/** Active local speakers of each class, as bits. */
const MEMBERS = [0b000, 0b001, 0b010, 0b100, 0b011, 0b101, 0b110];

/** Seconds between frames, and the centre of the first frame. */
export const FRAME_STEP = HOP / RATE;
export const FRAME_START = FIELD / RATE / 2;

/**
 * Frames between windows, so that they add up without resampling: 5.9 s, as good as 5 or 4 (error of 35 conversations of three to seven
 * minutes 5.7 %; 6.75 s: 6.0 %); 2.5 s for recordings up to a minute, where a single window more or less matters.
 */
const STEP = 350;
const FINE = 148;
/** 8.4 s suffice for VAD only: windows overlap by slightly more than their unreliable edges. */
export const COARSE = 500;
const SHORT = 60 * RATE;
export const BATCH = 2; // windows per call; four take 14 % less time and twice the memory

/** Output of one window, as probabilities in 1/255. */
export interface Local {
  /** [589 x 3] row-major: activity of each local speaker. */
  voices: Uint8Array;
  /** [589] anybody speaks. */
  speech: Uint8Array;
}

/** The windows of a whole recording: 3 KB per window, 21 MB for ten hours. */
export interface Activity {
  /** Frames between the starts of adjacent windows. */
  step: number;
  /** Frames of the recording. */
  total: number;
  locals: Local[];
}

/** Runs a batch of windows on some thread. */
export type Segmenter = (windows: Float32Array[]) => Promise<Local[]>;

const stacks: Float32Array[] = []; // free buffers

/** Runs the model on windows of up to 160,000 samples (shorter ones are padded with silence). Blocks: for worker threads. */
export async function segment(session: Session, windows: Float32Array[]): Promise<Local[]> {
  const stack = stacks.pop() ?? new Float32Array(BATCH * WINDOW);
  const samples = stack.subarray(0, windows.length * WINDOW).fill(0);
  for (const [i, window] of windows.entries()) samples.set(window, i * WINDOW);
  const outputs = await session.run({ [session.inputs[0]!]: float32(samples, [windows.length, 1, WINDOW]) });
  stacks.push(stack);
  const logits = outputs[session.outputs[0]!]!.data as Float32Array;
  return windows.map((_, i) => local(logits.subarray(i * FRAMES * CLASSES, (i + 1) * FRAMES * CLASSES)));
}

/** Softmax over the classes, summed per local speaker. */
function local(logits: Float32Array): Local {
  const voices = new Uint8Array(FRAMES * LOCAL);
  const speech = new Uint8Array(FRAMES);
  const odds = new Float64Array(CLASSES);
  for (let frame = 0; frame < FRAMES; frame++) {
    const row = logits.subarray(frame * CLASSES, (frame + 1) * CLASSES);
    const highest = Math.max(...row);
    let sum = 0;
    for (let c = 0; c < CLASSES; c++) sum += odds[c] = Math.exp(row[c]! - highest);
    for (let speaker = 0; speaker < LOCAL; speaker++) {
      let active = 0;
      for (let c = 1; c < CLASSES; c++) if (MEMBERS[c]! & (1 << speaker)) active += odds[c]!;
      voices[frame * LOCAL + speaker] = Math.round((255 * active) / sum);
    }
    speech[frame] = Math.round(255 * (1 - odds[0]! / sum));
  }
  return { voices, speech };
}

interface ObserveOptions {
  signal?: AbortSignal;
  /** Called with the seconds of the recording processed so far. */
  onProgress?: (seconds: number) => void;
  /** Concurrent batches; at least the number of threads. */
  concurrency?: number;
  /** Speech only, without speakers: 25 % less work. */
  coarse?: boolean;
}

/**
 * Runs the model over one channel of a recording, while it is still being decoded. Serves VAD and diarization. Throws what reading the
 * recording throws.
 */
export async function observe(
  recording: Recording,
  channel: number | 'mix',
  segmenter: Segmenter,
  { signal, onProgress, concurrency = 4, coarse = false }: ObserveOptions = {},
): Promise<Activity> {
  await recording.read(channel, SHORT, SHORT + 1); // waits until the recording is known to be long or short
  const step = coarse ? COARSE : recording.length > SHORT ? STEP : FINE;
  const locals: Local[] = [];
  let next = 0;
  let done = 0;
  const lane = async () => {
    const room = sharedSamples(BATCH * WINDOW);
    for (let more = true; more; ) {
      signal?.throwIfAborted();
      const first = next;
      next += BATCH;
      const starts = Array.from({ length: BATCH }, (_, i) => (first + i) * step * HOP);
      const read = await Promise.all(starts.map((start, i) => recording.read(channel, start, start + WINDOW, room.subarray(i * WINDOW))));
      const windows = read.filter((samples, i) => isWindow(starts[i]!, samples.length, recording.length, step));
      more = windows.length === BATCH;
      if (!windows.length) break;
      for (const [i, local] of (await segmenter(windows)).entries()) locals[first + i] = local;
      done += windows.length;
      onProgress?.(Math.min(done * step * HOP, recording.length) / RATE);
    }
  };
  await Promise.all(Array.from({ length: concurrency }, lane));
  return { step, total: Math.floor(recording.length / HOP) + 1, locals };
}

/** Whether a window begins here: it is complete, or it is the one that reaches the end. `length` is final if `read` is short. */
function isWindow(start: number, read: number, length: number, step: number): boolean {
  return start === 0 || read === WINDOW || start < length - WINDOW + step * HOP;
}

const EDGE = Math.round(2.5 / FRAME_STEP); // frames over which confidence grows: windows are unreliable at their edges

/** Confidence in each frame of a window, from 0.1 at its edges to 1. */
export const TRUST = Float32Array.from({ length: FRAMES }, (_, frame) => {
  const fromEdge = Math.min(frame, FRAMES - 1 - frame);
  return fromEdge < EDGE ? 0.1 + (0.9 * fromEdge) / (EDGE - 1) : 1;
});

/** Probability that anybody speaks, per frame, from all windows that cover it. */
export function speechProbability({ locals, step, total }: Activity): Float32Array {
  return blend(locals, step, total, (local, frame) => local.speech[frame]!);
}

/** Confidence-weighted mean of a frame's value over the windows that cover it; values are in 1/255. */
export function blend(locals: Local[], step: number, total: number, value: (local: Local, frame: number) => number): Float32Array {
  const sums = new Float32Array(total);
  const seen = trustSeen(locals.length, step, total);
  locals.forEach((local, w) => {
    const count = Math.min(FRAMES, total - w * step);
    for (let frame = 0; frame < count; frame++) sums[w * step + frame]! += (value(local, frame) * TRUST[frame]!) / 255;
  });
  for (let frame = 0; frame < total; frame++) sums[frame]! /= seen[frame]!;
  return sums;
}

/** Sum of confidence over the windows that cover each frame. */
export function trustSeen(windows: number, step: number, total: number): Float32Array {
  const seen = new Float32Array(total).fill(1e-6);
  for (let w = 0; w < windows; w++) {
    const count = Math.min(FRAMES, total - w * step);
    for (let frame = 0; frame < count; frame++) seen[w * step + frame]! += TRUST[frame]!;
  }
  return seen;
}
