import { sharedSamples } from '../runtime/buffers.ts';
import { float32, type Session } from '../runtime/session.ts';
import type { Recording } from '../types.ts';
import { SAMPLE_RATE } from '../types.ts';
import { clearer, halvesOf, isDoubtful } from './halves.ts';
import { either, levelled } from './levelled.ts';
import {
  CLASS_SPEAKERS,
  CLASSES,
  EDGE_FRAMES,
  FRAMES_PER_WINDOW,
  HOP_SAMPLES,
  LOCAL_SPEAKERS,
  type Local,
  SHORT_SAMPLES,
  SHORT_STEP_FRAMES,
  SPEECH_STEP_FRAMES,
  STEP_FRAMES,
  WINDOW_SAMPLES,
  WINDOWS_PER_BATCH,
} from './pyannote.ts';

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

/**
 * Runs the model on windows of up to 160,000 samples (shorter ones are padded with silence), and again on the halves of those that may contain
 * more speech, and on those in which a loud sound may hide some. Blocks: for worker threads.
 */
export async function segment(session: Session, windows: Float32Array[]): Promise<Local[]> {
  const locals = await run(session, windows);
  for (const [i, window] of windows.entries()) {
    if (isDoubtful(window, locals[i]!)) {
      const [first, second] = await run(session, halvesOf(window));
      locals[i] = clearer(locals[i]!, [first!, second!]);
    }
    const even = levelled(window, locals[i]!);
    if (even) locals[i] = either(locals[i]!, (await run(session, [even]))[0]!);
  }
  return locals;
}

async function run(session: Session, windows: Float32Array[]): Promise<Local[]> {
  const stack = stacks.pop() ?? new Float32Array(WINDOWS_PER_BATCH * WINDOW_SAMPLES);
  const samples = stack.subarray(0, windows.length * WINDOW_SAMPLES).fill(0);
  for (const [i, window] of windows.entries()) samples.set(window, i * WINDOW_SAMPLES);
  const outputs = await session.run({ [session.inputs[0]!]: float32(samples, [windows.length, 1, WINDOW_SAMPLES]) });
  stacks.push(stack);
  const logits = outputs[session.outputs[0]!]!.data as Float32Array;
  return windows.map((_, i) => local(logits.subarray(i * FRAMES_PER_WINDOW * CLASSES, (i + 1) * FRAMES_PER_WINDOW * CLASSES)));
}

/** Softmax over the classes, summed per local speaker. */
function local(logits: Float32Array): Local {
  const speakers = new Uint8Array(FRAMES_PER_WINDOW * LOCAL_SPEAKERS);
  const speech = new Uint8Array(FRAMES_PER_WINDOW);
  const odds = new Float64Array(CLASSES);
  for (let frame = 0; frame < FRAMES_PER_WINDOW; frame++) {
    const row = logits.subarray(frame * CLASSES, (frame + 1) * CLASSES);
    const highest = Math.max(...row);
    let sum = 0;
    for (let c = 0; c < CLASSES; c++) sum += odds[c] = Math.exp(row[c]! - highest);
    for (let speaker = 0; speaker < LOCAL_SPEAKERS; speaker++) {
      let active = 0;
      for (let c = 1; c < CLASSES; c++) if (CLASS_SPEAKERS[c]! & (1 << speaker)) active += odds[c]!;
      speakers[frame * LOCAL_SPEAKERS + speaker] = Math.round((255 * active) / sum);
    }
    speech[frame] = Math.round(255 * (1 - odds[0]! / sum));
  }
  return { speakers, speech };
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
  if (!coarse) await recording.read(channel, SHORT_SAMPLES, SHORT_SAMPLES + 1); // waits until the recording is known to be long or short
  const step = coarse ? SPEECH_STEP_FRAMES : recording.length > SHORT_SAMPLES ? STEP_FRAMES : SHORT_STEP_FRAMES;
  const locals: Local[] = [];
  let next = 0;
  let done = 0;
  const lane = async () => {
    const room = sharedSamples(WINDOWS_PER_BATCH * WINDOW_SAMPLES);
    for (let more = true; more; ) {
      signal?.throwIfAborted();
      const first = next;
      next += WINDOWS_PER_BATCH;
      const starts = Array.from({ length: WINDOWS_PER_BATCH }, (_, i) => (first + i) * step * HOP_SAMPLES);
      const read = await Promise.all(
        starts.map((start, i) => recording.read(channel, start, start + WINDOW_SAMPLES, room.subarray(i * WINDOW_SAMPLES))),
      );
      const windows = read.filter((samples, i) => isWindow(starts[i]!, samples.length, recording.length, step));
      more = windows.length === WINDOWS_PER_BATCH;
      if (!windows.length) break;
      for (const [i, local] of (await segmenter(windows)).entries()) locals[first + i] = local;
      done += windows.length;
      onProgress?.(Math.min(done * step * HOP_SAMPLES, recording.length) / SAMPLE_RATE);
    }
  };
  await Promise.all(Array.from({ length: concurrency }, lane));
  return { step, total: Math.floor(recording.length / HOP_SAMPLES) + 1, locals };
}

/** Whether a window begins here: it is complete, or it is the one that reaches the end. `length` is final if `read` is short. */
function isWindow(start: number, read: number, length: number, step: number): boolean {
  return start === 0 || read === WINDOW_SAMPLES || start < length - WINDOW_SAMPLES + step * HOP_SAMPLES;
}

/** Confidence in each frame of a window, from 0.1 at its edges to 1. */
export const TRUST = Float32Array.from({ length: FRAMES_PER_WINDOW }, (_, frame) => {
  const fromEdge = Math.min(frame, FRAMES_PER_WINDOW - 1 - frame);
  return fromEdge < EDGE_FRAMES ? 0.1 + (0.9 * fromEdge) / (EDGE_FRAMES - 1) : 1;
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
    const count = Math.min(FRAMES_PER_WINDOW, total - w * step);
    for (let frame = 0; frame < count; frame++) sums[w * step + frame]! += (value(local, frame) * TRUST[frame]!) / 255;
  });
  for (let frame = 0; frame < total; frame++) sums[frame]! /= seen[frame]!;
  return sums;
}

/** Sum of confidence over the windows that cover each frame. */
export function trustSeen(windows: number, step: number, total: number): Float32Array {
  const seen = new Float32Array(total).fill(1e-6);
  for (let w = 0; w < windows; w++) {
    const count = Math.min(FRAMES_PER_WINDOW, total - w * step);
    for (let frame = 0; frame < count; frame++) seen[w * step + frame]! += TRUST[frame]!;
  }
  return seen;
}
