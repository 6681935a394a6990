import { join } from 'node:path';
import { LOOP, type Thresholds, type WhisperDescriptor } from '../../../models/descriptor.ts';
import { type Device, openSession, type Session } from '../../runtime/session.ts';

/** Attention frames of a window, as the decoder always gets them. The encoder processes less of the padding: encode.ts. */
export const WINDOW_STEPS = 1500;
/** Forbids a token. Not -Infinity, because sums of infinities are NaN. */
export const FORBIDDEN = -1e9;

/** The parts of a model's descriptor that the decoding rules need. Numbers are token ids unless a unit is given. */
export interface Facts {
  /** Samples per attention frame and timestamp step: 320 as in training, 352 if the encoder was exported with a longer hop. */
  samplesPerStep: number;
  /** The same in seconds. */
  tick: number;
  vocabulary: number; // tokens
  layers: number;
  heads: number;
  headWidth: number; // channels
  alignmentHeads: number;
  longestText: number; // tokens, prompt included
  startOfTranscript: number;
  startOfPrevious: number;
  endOfText: number;
  noSpeech: number;
  noTimestamps: number;
  firstTimestamp: number;
  /** Latest first timestamp, as an offset from firstTimestamp. */
  latestStart: number;
  transcribe: number;
  /** Whisper's language code -> token; empty for English-only models. */
  languages: ReadonlyMap<string, number>;
  suppressed: readonly number[];
  suppressedAtStart: readonly number[];
  thresholds: Thresholds;
}

/** A Whisper model loaded on one thread that encodes a window in one call and decodes a token in each further one. */
export interface Whisper {
  facts: Facts;
  encoder: Session;
  decoder: Session;
  /** Layout of the cross-attention's keys and values. */
  layout: WhisperDescriptor['crossAttention'];
  /** Lengths of the self-attention cache, in positions, ascending. */
  buckets: readonly number[];
  /** Encoder outputs that are decoder inputs: the keys and values of the cross-attention. */
  cross: readonly string[];
  close(): Promise<void>;
}

/** A Whisper model loaded on one thread that encodes and decodes in one call, for GPUs: keys and values never leave their memory. */
export interface WhisperLoop {
  facts: Facts;
  loop: Session;
  close(): Promise<void>;
}

export type AnyWhisper = Whisper | WhisperLoop;

/**
 * Opens encoder and decoder of a built model folder. Throws if a file or the requested device is missing, or the model does not support the
 * device. `profile` is a folder for the profiles of SessionOptions.
 */
export async function openWhisper(
  folder: string,
  descriptor: WhisperDescriptor,
  options: { device?: Device; profile?: string } = {},
): Promise<Whisper> {
  const { device = 'cpu', profile } = options;
  checkDevice(descriptor, device);
  const each = (name: string) => ({ device, profile: profile && join(profile, name), arena: true });
  const encoder = await openSession(join(folder, 'encoder.onnx'), each('encoder'));
  const decoder = await openSession(join(folder, 'decoder.onnx'), each('decoder'));
  return {
    facts: factsOf(descriptor),
    encoder,
    decoder,
    layout: descriptor.crossAttention,
    buckets: descriptor.recipe.buckets,
    cross: encoder.outputs.filter((name) => decoder.inputs.includes(name)),
    async close() {
      await encoder.close();
      await decoder.close();
    },
  };
}

/** Opens the graph of a built model folder that encodes and decodes in one call. Throws as `openWhisper`. */
export async function openLoop(folder: string, descriptor: WhisperDescriptor, device: Device): Promise<WhisperLoop> {
  checkDevice(descriptor, device);
  const loop = await openSession(join(folder, LOOP), { device, arena: true });
  return { facts: factsOf(descriptor), loop, close: () => loop.close() };
}

function checkDevice({ name, variant, devices }: WhisperDescriptor, device: Device): void {
  if (devices.includes(device)) return;
  const remedy =
    device === 'cpu'
      ? 'import its checkpoint again with --variant int8'
      : `make one that is with "longhand models import ${name} --variant float16"`;
  throw new Error(`Cannot run ${name} on ${device}: its ${variant} models are for ${devices.join(', ')}; ${remedy}`);
}

/** Length of the longest window, seconds. */
export function windowSeconds({ tick }: Facts): number {
  return WINDOW_STEPS * tick;
}

/** The parts of a descriptor that the decoding rules need. */
export function factsOf({ window, dimensions, tokens, thresholds }: WhisperDescriptor): Facts {
  const { samplesPerStep, sampleRate } = window;
  const { vocabulary, layers, heads, width, alignmentHeads, longestText } = dimensions;
  return {
    ...{ samplesPerStep, tick: samplesPerStep / sampleRate },
    ...{ vocabulary, layers, heads, headWidth: width / heads, alignmentHeads: alignmentHeads.length, longestText },
    ...tokens,
    languages: new Map(Object.entries(tokens.languages)),
    thresholds,
  };
}

/** Codes that a checkpoint may know under another name, best first. */
const ALIASES: Record<string, readonly string[]> = {
  yue: ['zh'],
  jv: ['jw'],
  jw: ['jv'],
  nb: ['no'],
  nn: ['nn', 'no'],
  iw: ['he'],
  fil: ['tl'],
};

/** The code under which the model knows a language, or null. English-only models know English. */
export function knownLanguage(facts: Facts, code: string): string | null {
  if (facts.languages.size === 0) return 'en';
  return [code, ...(ALIASES[code] ?? [])].find((name) => facts.languages.has(name)) ?? null;
}
