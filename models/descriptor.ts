import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { VARIANTS } from './build/graph/graph.ts';
import { thresholdsSchema, WHISPER_BASE_THRESHOLDS } from './thresholds.ts';

export type { Thresholds } from './thresholds.ts';

/** The description of a built model: `model.json` in its folder. The engine reads this, the tokenizer and the ONNX files, nothing else. */

export const DESCRIPTOR = 'model.json';

/** Version of the graphs' inputs and outputs, documented in `build/whisper`. Other versions cannot be opened. */
export const INTERFACE = 1;

export const LOOP = 'loop.onnx'; // the graph that encodes and decodes in one call, of models for CUDA

const DEVICES = ['cpu', 'cuda', 'webgpu'] as const;
const count = z.int().nonnegative();
const token = z.int().nonnegative();
const sha256 = z.string().regex(/^[0-9a-f]{64}$/);

/** How a model is built from its checkpoint and run. Chosen by measurement; nothing follows from the model's size. */
export const recipeSchema = z.object({
  /** Samples between encoder frames; 160 (10 ms) in training. */
  hop: z.int().positive(),
  /** Decoder layers that attend to means of two frames. */
  pooledLayers: z.array(count),
  /** Per encoder layer, heads that attend to means of five frames beyond nearby ones. */
  coarseHeads: z.array(z.array(count)),
  /** Batch size: windows decoded together on one thread. */
  rows: z.int().min(1),
  /** Lengths of the self-attention cache, in positions, ascending. */
  buckets: z.array(z.int().positive()).min(1),
  /** Scales of 8-bit products. */
  scales: z.object({
    /** Whether channels of the value projections are equalised before quantisation. */
    values: z.enum(['plain', 'equalised']),
    /** Scale of the decoder's cross-attention queries: one for all rows and heads, or one each. */
    queries: z.enum(['tensor', 'row']),
    /** Matrices whose activations have a scale per row (position), by name without `.weight`; the others have one scale per call. */
    rowwise: z.array(z.string()),
  }),
});
export type Recipe = z.infer<typeof recipeSchema>;

const rate = z.object({ language: z.string(), clips: count, words: count, errors: count });

/** Result of the self-check at import; absent if there was none. */
export const checkSchema = z.object({
  at: z.iso.datetime(),
  /** CPU and threads used for the measurement. */
  machine: z.string(),
  cores: z.int().positive().optional(), // that were available, hardware threads included; checks of earlier versions lack them
  /** Words (characters in languages without word separators) and errors by language; also of the float32 models if measured. */
  rates: z.array(rate),
  reference: z.array(rate).optional(),
  /** Hallucinated words, in audio without speech. */
  invented: count,
  /** Share of the speech covered by words, 0 to 1. */
  coverage: z.number(),
  /** Seconds of a conversation recognised per second, on all threads; of short clips, where there was no time for it. */
  rtfx: z.number(),
  /** Peak memory of a thread, bytes. */
  threadBytes: count,
  /** Lowest mean word probability of a clip in one of its languages; absent if there were none, and in checks of earlier versions. */
  leastConfidence: z.number().optional(),
});
export type Check = z.infer<typeof checkSchema>;

const whisperSchema = z.object({
  name: z.string(),
  architecture: z.literal('whisper'),
  interface: z.literal(INTERFACE),
  variant: z.enum(VARIANTS),
  /** Supported devices. 8-bit models run on CPUs only: on a GPU, onnxruntime would silently run their products on the CPU. */
  devices: z.array(z.enum(DEVICES)).min(1),
  licence: z.string(), // SPDX expression, or `unknown`
  source: z.string(),
  attribution: z.string().optional(), // if the licence requires it
  createdAt: z.iso.datetime().optional(),
  /** Checksum of the weights: of the single file, or of the shards' checksums. */
  checkpoint: z.object({ sha256, parameters: count }),
  /** Input of the encoder: number of steps and samples per step. A step is also the unit of timestamps. */
  window: z.object({ sampleRate: z.int().positive(), steps: z.int().positive(), samplesPerStep: z.int().positive() }),
  dimensions: z.object({
    width: count,
    encoderLayers: count,
    layers: count,
    heads: count,
    melBins: count,
    vocabulary: count,
    /** Alignment heads, in the order of the rows of `align`. */
    alignmentHeads: z.array(z.tuple([count, count])),
    /** Tokens of the decoder, prompt included. */
    longestText: count,
  }),
  /** Layout of the cross-attention's keys and values between encoder and decoder. */
  crossAttention: z.object({
    element: z.enum(['int8', 'float32', 'float16']),
    /** Frames per key and value, by layer. */
    framesPerKey: z.array(z.int().positive()),
    /** Keys per block of a channel; 0: all of them. */
    keysPerBlock: count,
    /** Column sum that marks missing keys if the encoder accepts fewer steps than a window has; null: it does not. */
    unheardSum: z.number().nullable(),
    /** Constants of the encoder that hold the reciprocal of the largest 8-bit key or value. */
    peakConstants: z.array(z.string()),
  }),
  tokens: z.object({
    startOfTranscript: token,
    startOfPrevious: token,
    endOfText: token,
    noSpeech: token,
    noTimestamps: token,
    firstTimestamp: token,
    /** Latest first timestamp, as an offset from the first timestamp token. */
    latestStart: count,
    transcribe: token,
    /** By Whisper's language code; empty for English-only models. */
    languages: z.record(z.string(), token),
    suppressed: z.array(token),
    suppressedAtStart: z.array(token),
  }),
  recipe: recipeSchema,
  /** Models of earlier versions have none of their own. */
  thresholds: thresholdsSchema.default(WHISPER_BASE_THRESHOLDS),
  /** Bytes estimated from the shapes: per decoded window, and per thread with the recipe's rows. */
  memory: z.object({ row: count, thread: count }),
  check: checkSchema.optional(),
  files: z.array(z.object({ name: z.string(), bytes: count, sha256 })),
});
/** Kinds of log-mel features, named after the preprocessors of their families, and samples at 8 kHz: engine/asr/features. */
const FEATURES = ['nemo80', 'nemo128', 'gigaam-v2', 'gigaam-v3', 'samples8k'] as const;
const network = z.string().regex(/^[\w][\w.-]*\.onnx$/);
const isoLanguage = z.string().regex(/^[a-z]{2,3}$/);

/** Fields of CTC and transducer models, as published for onnx-asr. Their tokens are in `TOKENS`, in order. */
const frameFields = {
  name: z.string(),
  interface: z.literal(INTERFACE),
  variant: z.enum(VARIANTS),
  devices: z.array(z.enum(DEVICES)).min(1),
  /** SPDX expression, or `unknown`. */
  licence: z.string(),
  source: z.string(),
  /** Attribution that the licence requires; null: none. */
  attribution: z.string().nullable(),
  /** Whether its linear layers were converted to 8 bits at import, rather than by its publisher. */
  converted: z.boolean().default(false),
  createdAt: z.iso.datetime().optional(),
  /** Maximum input; a step is a frame of features. */
  window: z.object({ sampleRate: z.int().positive(), steps: z.int().positive(), samplesPerStep: z.int().positive() }),
  features: z.enum(FEATURES),
  /** Frames of features per frame of the encoder. */
  subsampling: z.int().positive(),
  /** ISO codes. If there is one, every recording is in that language; if there are several, the model does not report which one it recognised. */
  languages: z.array(isoLanguage).min(1),
  tokens: z.object({ count: z.int().min(2), blank: token }),
  memory: z.object({ row: count, thread: count }),
  check: checkSchema.optional(),
  files: z.array(z.object({ name: z.string(), bytes: count, sha256 })),
};

const ctcSchema = z.object({
  architecture: z.literal('ctc'),
  ...frameFields,
  networks: z.object({ model: network }),
  delay: count.default(0), // frames by which its tokens come late
});

const transducerSchema = z.object({
  architecture: z.literal('transducer'),
  ...frameFields,
  /** Predictor and joint in one network, or each in its own. */
  networks: z.union([
    z.object({ encoder: network, decoderJoint: network }),
    z.object({ encoder: network, predictor: network, joint: network }),
  ]),
  /** TDT: number of durations, 0, 1, 2 … frames, after the tokens in the joint's output. 0: RNN-T. */
  durations: count,
  /** Maximum number of tokens per frame. */
  tokensPerFrame: z.int().positive(),
});

/** File with the tokens of a CTC or transducer model: a JSON list of strings; the first token of a word begins with \u2581. */
export const TOKENS = 'tokens.json';

export const descriptorSchema = z.discriminatedUnion('architecture', [whisperSchema, ctcSchema, transducerSchema]);
export type Descriptor = z.infer<typeof descriptorSchema>;
export type Architecture = Descriptor['architecture'];
export type DescriptorOf<A extends Architecture> = Extract<Descriptor, { architecture: A }>;
export type WhisperDescriptor = DescriptorOf<'whisper'>;
export type FrameDescriptor = DescriptorOf<'ctc' | 'transducer'>;
export type DeviceName = Descriptor['devices'][number];

const ROWS_ON_GPU = 16;

/** Windows that a thread decodes concurrently. */
export function rowsOf(descriptor: Descriptor, device: DeviceName): number {
  if (descriptor.architecture !== 'whisper') return 1;
  return device === 'cuda' && descriptor.variant === 'float16' ? ROWS_ON_GPU : descriptor.recipe.rows; // others keep their rows in host memory
}

/** ISO codes of the languages that a model recognises. */
export function languagesOf(descriptor: Descriptor): string[] {
  if (descriptor.architecture !== 'whisper') return descriptor.languages;
  const codes = Object.keys(descriptor.tokens.languages);
  return codes.length ? codes : ['en'];
}

/** Reads the descriptor of a Whisper model. */
export function readWhisper(folder: string): WhisperDescriptor {
  const descriptor = readDescriptor(folder);
  if (descriptor.architecture === 'whisper') return descriptor;
  throw new Error(`Cannot use the model in ${folder} here: it is a ${descriptor.architecture} model, wanted Whisper`);
}

/** Reads the descriptor in a model's folder. Throws if there is none or it is of another version. */
export function readDescriptor(folder: string): Descriptor {
  const path = join(folder, DESCRIPTOR);
  const remedy = 'remove it ("longhand models remove") and import or pull it again';
  let text: string;
  try {
    text = readFileSync(path, 'utf8');
  } catch (cause) {
    const { code } = cause as NodeJS.ErrnoException;
    const found = code === 'ENOENT' ? `it has no ${DESCRIPTOR}; it may come from an earlier version: if so, ` : `${code};`;
    throw Object.assign(new Error(`Cannot open the model in ${folder}: ${found} ${remedy}`, { cause }), { code });
  }
  const parsed = descriptorSchema.safeParse(jsonOf(text));
  if (parsed.success) return parsed.data;
  const { path: where = [], message = '' } = parsed.error.issues[0] ?? {};
  const what =
    where[0] === 'interface' ? 'its graphs were built by another version' : `${path} is not valid (${where.join('.')}: ${message})`;
  throw new Error(`Cannot open the model in ${folder}: ${what}; ${remedy}`);
}

/** Writes the descriptor; the same content gives the same bytes. */
export function writeDescriptor(folder: string, descriptor: Descriptor): void {
  writeFileSync(join(folder, DESCRIPTOR), `${JSON.stringify(descriptorSchema.parse(descriptor), null, 2)}\n`);
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}
