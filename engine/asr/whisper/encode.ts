import { float32, type Tensor, tensor } from '../../runtime/session.ts';
import { SAMPLE_RATE, type Span } from '../../types.ts';
import type { Encoded } from './decoding/batch.ts';
import { FRAME_SAMPLES, foldedFrames, MARGIN_SAMPLES } from './frames.ts';
import { type AnyWhisper, type Facts, type Whisper, type WhisperLoop, WINDOW_STEPS } from './model.ts';

const QUIET_RMS = 10 ** (-50 / 20); // RMS below which a window is amplified
const AMPLIFIED_RMS = 10 ** (-28 / 20);

const MIN_PADDING_SAMPLES = SAMPLE_RATE; // minimum padding after the audio, samples: with 0.5 s, ends of sentences are lost
const MIN_STEPS = 1000; // steps, padding included: with 750, more words are hallucinated after short clips; without a minimum, models loop
/**
 * The same for a part of a window, which is decoded again where text is missing or the language may change. On the tuning set 500 and 250
 * instead of 1000 give the same error rates (joined speech of three to six seeds, seven other languages).
 */
const MIN_PART_STEPS = 250;
const STEP_UNIT = 50; // granularity of the encoder, steps
const FRAMES_PER_STEP = 2;

const soundFor = new WeakMap<AnyWhisper, Float32Array>();
const framesFor = new WeakMap<AnyWhisper, Float32Array>();
const heardBy = new WeakMap<Whisper, Encoded>(); // buffers for the outputs of a partial window: 10 MB for base

interface Sound {
  samples: Float32Array;
  /** Seconds of the window. */
  speech: readonly Span[];
  /** A part of a window, which gets less padding. */
  part?: boolean;
}

/**
 * Runs the encoder on one window. The decoder always gets the keys and values of a whole one. In 8-bit models the encoder skips most of the
 * padding, and the missing keys are masked for the decoder: 10 % faster for full windows, 33 % for a short recording.
 * @param into memory for the encoder's outputs, returned with it
 */
export async function encode(sound: Sound, model: Whisper, into?: Encoded): Promise<Encoded> {
  const { unheardSum } = model.layout;
  const steps = unheardSum === null ? WINDOW_STEPS : stepsHeard(sound, model.facts);
  const feeds = { frames: framesOf(sound, steps, model) };
  if (steps === WINDOW_STEPS || unheardSum === null) {
    const said = await model.encoder.run(feeds, into);
    return into ?? said;
  }
  const room = heardBy.get(model) ?? roomFor(model, WINDOW_STEPS);
  heardBy.set(model, room);
  const said = roomFor(model, steps, room);
  await model.encoder.run(feeds, said);
  return filledUp(said, into ?? roomFor(model, WINDOW_STEPS), model.facts, unheardSum);
}

/** One window for a model that encodes and decodes in one call: its frames. */
export function unencoded(sound: Sound, model: WhisperLoop): Encoded {
  const { data, dims } = framesOf(sound, WINDOW_STEPS, model);
  return { frames: float32((data as Float32Array).slice(), dims) };
}

/** The encoder's input of a number of steps; valid until the next window of the same model. */
function framesOf({ samples, speech }: Sound, steps: number, model: AnyWhisper): Tensor {
  const sound = soundOf(samples, speech, steps, model);
  const memory = roomOf(framesFor, model, FRAMES_PER_STEP * WINDOW_STEPS * FRAME_SAMPLES);
  const frames = foldedFrames(sound, model.facts.samplesPerStep / FRAMES_PER_STEP, memory);
  return float32(frames, [1, 4, FRAMES_PER_STEP * steps, FRAME_SAMPLES / 4]);
}

/** The samples of a number of steps, padded with silence and amplified if quiet, between margins. */
function soundOf(samples: Float32Array, speech: readonly Span[], steps: number, model: AnyWhisper): Float32Array {
  const { samplesPerStep } = model.facts;
  const length = steps * samplesPerStep;
  const sound = roomOf(soundFor, model, WINDOW_STEPS * samplesPerStep + 2 * MARGIN_SAMPLES).subarray(0, length + 2 * MARGIN_SAMPLES);
  const end = MARGIN_SAMPLES + Math.min(samples.length, length);
  sound.set(samples.subarray(0, length), MARGIN_SAMPLES);
  sound.fill(0, end);
  const level = levelOf(samples, speech);
  if (level > 0 && level < QUIET_RMS) for (let i = MARGIN_SAMPLES; i < end; i++) sound[i]! *= AMPLIFIED_RMS / level;
  return sound;
}

/** A thread's buffer for the encoder's input, sized for the longest window; a thread encodes one window at a time. */
function roomOf(rooms: WeakMap<AnyWhisper, Float32Array>, model: AnyWhisper, length: number): Float32Array {
  const room = rooms.get(model) ?? new Float32Array(length);
  rooms.set(model, room);
  return room;
}

/** Steps of a window that the encoder processes. */
function stepsHeard({ samples, part }: Sound, { samplesPerStep }: Facts): number {
  const steps = STEP_UNIT * Math.ceil((samples.length + MIN_PADDING_SAMPLES) / samplesPerStep / STEP_UNIT);
  return Math.min(WINDOW_STEPS, Math.max(part ? MIN_PART_STEPS : MIN_STEPS, steps));
}

/**
 * Copies keys and values of fewer steps into the layout of a full window; masks padded keys. Scores are `(products - sums * zero point) *
 * scale`.
 */
function filledUp(said: Encoded, into: Encoded, { layers, heads }: Facts, unheardSum: number): Encoded {
  for (let l = 0; l < layers; l++) {
    for (const name of ['ck', 'cv', 'ksc', 'vsc']) lay(said, into, `${name}${l}`, heads, 0);
    lay(said, into, `cs${l}`, heads, unheardSum);
  }
  return into;
}

/** Copies the rows of a tensor into those of a possibly longer one, and fills the rest. */
function lay(said: Encoded, into: Encoded, name: string, rows: number, rest: number): void {
  const [from, to] = [said[name]!.data as Int8Array, into[name]!.data as Int8Array]; // or both float32
  const [short, long] = [from.length / rows, to.length / rows];
  for (let row = 0; row < rows; row++) {
    to.set(from.subarray(row * short, (row + 1) * short), row * long);
    to.fill(rest, row * long + short, (row + 1) * long);
  }
}

/** Tensors for an 8-bit encoder's outputs of a number of steps: newly allocated, or at the beginning of those for more steps. */
function roomFor({ facts, layout: { framesPerKey, keysPerBlock } }: Whisper, steps: number, within?: Encoded): Encoded {
  const { layers, heads, headWidth } = facts;
  const room: Encoded = {};
  const add = (name: string, type: 'int8' | 'float32', ...dims: number[]) => {
    const size = dims.reduce((product, length) => product * length);
    const Numbers = type === 'int8' ? Int8Array : Float32Array;
    const data = within ? (within[name]!.data as Float32Array | Int8Array).subarray(0, size) : new Numbers(size);
    room[name] = tensor(type, data, [1, ...dims]);
  };
  for (let l = 0; l < layers; l++) {
    const keys = steps / framesPerKey[l]!;
    add(`ck${l}`, 'int8', heads, 1, Math.ceil(keys / keysPerBlock), headWidth, keysPerBlock);
    add(`cv${l}`, 'int8', heads, keys, headWidth);
    add(`cs${l}`, 'float32', heads, 1, keys);
    for (const name of ['ksc', 'vsc']) add(`${name}${l}`, 'float32', heads, 1, headWidth);
  }
  return room;
}

/** RMS over the speech. */
function levelOf(samples: Float32Array, speech: readonly Span[]): number {
  let sum = 0;
  let count = 0;
  for (const { start, end } of speech) {
    const last = Math.min(samples.length, Math.round(end * SAMPLE_RATE));
    for (let i = Math.round(start * SAMPLE_RATE); i < last; i++, count++) sum += samples[i]! * samples[i]!;
  }
  return count === 0 ? 0 : Math.sqrt(sum / count);
}
