import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type Device, openSession, type Session } from '../../runtime/session.ts';

export const SAMPLE_RATE = 16000;
/** Attention frames of a window: what the decoder is always given. The encoder hears less of the silence that fills it up: encode.ts. */
export const STEPS = 1500;
const HOP = 160; // samples, where a model does not say
/** Forbids a token. Not -Infinity: sums of infinities are NaN. */
export const NEVER = -1e9;

/** What a checkpoint's configuration says, derived once. Numbers are token ids unless a unit is given. */
export interface Facts {
  /** Samples behind each attention frame, and between two timestamps: 320 as in training, 352 where the graphs hear faster (models/build/whisper/config.ts). */
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
  /** Highest first timestamp, as an offset from firstTimestamp. */
  latestStart: number;
  transcribe: number;
  /** Whisper's language code -> token; empty for English-only models. */
  languages: ReadonlyMap<string, number>;
  suppressed: readonly number[];
  suppressedAtStart: readonly number[];
}

/** A Whisper checkpoint held open on one thread. */
export interface Whisper {
  facts: Facts;
  encoder: Session;
  decoder: Session;
  /** Frames behind each key and value of the cross-attention, by layer of the decoder. */
  framesPerKey: readonly number[];
  /** Of the cross-attention of an 8-bit model, that lie together: models/build/whisper/config.ts. */
  keysPerBlock: number;
  /** Outputs of the encoder that are inputs of the decoder: the keys and values of the cross-attention. */
  cross: readonly string[];
  close(): Promise<void>;
}

type Json = Record<string, unknown>;

/**
 * Opens encoder and decoder of a built model folder. Throws when a file is missing, or the device asked for is.
 * `profile` is a folder for what SessionOptions says of it.
 */
export async function openWhisper(folder: string, options: { device?: Device; profile?: string } = {}): Promise<Whisper> {
  const { device, profile } = options;
  const each = (name: string) => ({ device, profile: profile && join(profile, name), arena: true });
  const facts = await readFacts(folder);
  const encoder = await openSession(join(folder, 'encoder.onnx'), each('encoder'));
  const decoder = await openSession(join(folder, 'decoder.onnx'), each('decoder'));
  if (!decoder.inputs.includes('asked')) {
    const remedy = 'remove it ("longhand models remove") and import or pull it again';
    throw new Error(`Cannot open the model in ${folder}: its networks were made by an earlier version; ${remedy}`);
  }
  const cross = encoder.outputs.filter((name) => decoder.inputs.includes(name));
  return {
    facts,
    encoder,
    decoder,
    framesPerKey: Array.from({ length: facts.layers }, (_, l) => framesIn(decoder.dimensions(`cv${l}`).at(-2))),
    keysPerBlock: Number(decoder.dimensions('ck0').at(-1)),
    cross,
    async close() {
      await encoder.close();
      await decoder.close();
    },
  };
}

/** From the name of a dimension of values, 'S' or 'S/2'. */
function framesIn(dimension: number | string | undefined): number {
  return Number(/^S\/(\d+)$/.exec(`${dimension}`)?.[1] ?? 1);
}

/** Seconds of the longest window. */
export function windowSeconds({ tick }: Facts): number {
  return STEPS * tick;
}

/** Reads config.json, generation_config.json and, where there is one, preprocessor_config.json of a built model. */
export async function readFacts(folder: string): Promise<Facts> {
  const config = JSON.parse(await readFile(join(folder, 'config.json'), 'utf8')) as Json;
  const generation = JSON.parse(await readFile(join(folder, 'generation_config.json'), 'utf8')) as Json;
  const preprocessor = JSON.parse(await readFile(join(folder, 'preprocessor_config.json'), 'utf8').catch(() => '{}')) as Json;
  const number = (from: Json, key: string, otherwise?: number) => {
    const value = from[key] ?? otherwise;
    if (typeof value === 'number') return value;
    throw new Error(`Cannot open the model in ${folder}: its configuration has no number '${key}'. Import the checkpoint again.`);
  };
  const layers = number(config, 'decoder_layers');
  const heads = number(config, 'decoder_attention_heads');
  const noTimestamps = number(generation, 'no_timestamps_token_id');
  const languages = Object.entries((generation.lang_to_id ?? {}) as Record<string, number>);
  const chosen = generation.alignment_heads as unknown[] | undefined;
  const samplesPerStep = 2 * number(preprocessor, 'hop_length', HOP);
  return {
    samplesPerStep,
    tick: samplesPerStep / SAMPLE_RATE,
    vocabulary: number(config, 'vocab_size'),
    layers,
    heads,
    headWidth: number(config, 'd_model') / heads,
    alignmentHeads: chosen?.length ?? (layers - (layers >> 1)) * heads,
    longestText: number(config, 'max_target_positions', 448),
    startOfTranscript: number(generation, 'decoder_start_token_id'),
    startOfPrevious: number(generation, 'prev_sot_token_id', noTimestamps - 2),
    endOfText: number(generation, 'eos_token_id'),
    noSpeech: noTimestamps - 1,
    noTimestamps,
    firstTimestamp: noTimestamps + 1,
    latestStart: number(generation, 'max_initial_timestamp_index', 50),
    transcribe: ((generation.task_to_id ?? {}) as Record<string, number>).transcribe ?? noTimestamps - 4,
    languages: new Map(languages.map(([token, id]) => [token.slice(2, -2), id])),
    suppressed: (generation.suppress_tokens ?? []) as number[],
    suppressedAtStart: (generation.begin_suppress_tokens ?? []) as number[],
  };
}

/** Codes that a checkpoint may know under another name, nearest first. */
const ALIASES: Record<string, readonly string[]> = {
  yue: ['zh'],
  jv: ['jw'],
  jw: ['jv'],
  nb: ['no'],
  nn: ['nn', 'no'],
  iw: ['he'],
  fil: ['tl'],
};

/** The code under which the model knows a language, or null when it does not. English-only models know English. */
export function knownLanguage(facts: Facts, code: string): string | null {
  if (facts.languages.size === 0) return 'en';
  return [code, ...(ALIASES[code] ?? [])].find((name) => facts.languages.has(name)) ?? null;
}
