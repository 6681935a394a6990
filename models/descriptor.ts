import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { VARIANTS } from './build/graph/graph.ts';

/** The description of a built model, `model.json` in its folder. The engine reads this, the tokenizer and the ONNX files, nothing else. */

export const DESCRIPTOR = 'model.json';

/** Version of the inputs and outputs of the graphs, documented in `build/whisper`. Other versions cannot be opened. */
export const INTERFACE = 1;

const DEVICES = ['cpu', 'cuda', 'webgpu'] as const;
const count = z.int().nonnegative();
const token = z.int().nonnegative();
const sha256 = z.string().regex(/^[0-9a-f]{64}$/);

/** How a model is built from its checkpoint, and run: what was chosen for it by measurement. Nothing of it follows from the size of a model. */
export const recipeSchema = z.object({
  /** Samples from one frame of the encoder to the next; 160 (10 ms) in training. */
  hop: z.int().positive(),
  /** Layers of the decoder that attend to the means of two frames. */
  pooledLayers: z.array(count),
  /** By layer of the encoder, heads that see what is seconds away as means of five frames. */
  coarseHeads: z.array(z.array(count)),
  /** Windows that one thread decodes together. */
  rows: z.int().min(1),
  /** Lengths of the self-attention cache, in positions, ascending. */
  buckets: z.array(z.int().positive()).min(1),
  /** How 8-bit products are scaled. */
  scales: z.object({
    /** Whether channels of the value projections are evened out before they are quantised. */
    values: z.enum(['plain', 'equalised']),
    /** Queries of the decoder's cross-attention: one scale for all rows and heads, or one each. */
    queries: z.enum(['tensor', 'row']),
    /** Matrices whose activations have a scale for each row (position), by name without `.weight`; the others have one scale a call. */
    rowwise: z.array(z.string()),
  }),
});
export type Recipe = z.infer<typeof recipeSchema>;

const rate = z.object({ language: z.string(), clips: count, words: count, errors: count });

/** What the self-check at import found; absent where none was made. */
export const checkSchema = z.object({
  at: z.iso.datetime(),
  /** Processor and threads it was measured on. */
  machine: z.string(),
  /** Words (characters where a language writes none apart) and errors by language; of the float32 networks too where they were measured. */
  rates: z.array(rate),
  reference: z.array(rate).optional(),
  /** Words written where nobody speaks. */
  invented: count,
  /** Share of the speech that lies under words, 0 to 1. */
  coverage: z.number(),
  /** Seconds of audio recognised in a second, on all threads. */
  rtfx: z.number(),
  /** Bytes that a thread took at most. */
  threadBytes: count,
});
export type Check = z.infer<typeof checkSchema>;

export const descriptorSchema = z.object({
  name: z.string(),
  architecture: z.literal('whisper'),
  interface: z.literal(INTERFACE),
  variant: z.enum(VARIANTS),
  /** Devices it may run on. 8-bit products run on CPUs only: a GPU would hand them back to the CPU in silence. */
  devices: z.array(z.enum(DEVICES)).min(1),
  /** SPDX expression, or `unknown`. */
  licence: z.string(),
  source: z.string(),
  createdAt: z.iso.datetime().optional(),
  /** Of its weights: the checksum of the one file, or that of the checksums of its shards. */
  checkpoint: z.object({ sha256, parameters: count }),
  /** What the encoder takes: so many steps of so many samples. A step is also the unit of timestamps. */
  window: z.object({ sampleRate: z.int().positive(), steps: z.int().positive(), samplesPerStep: z.int().positive() }),
  dimensions: z.object({
    width: count,
    encoderLayers: count,
    layers: count,
    heads: count,
    melBins: count,
    vocabulary: count,
    /** Heads whose attention tells when a word is said; so many rows of `align`. */
    alignmentHeads: z.array(z.tuple([count, count])),
    /** Tokens of the decoder, prompt included. */
    longestText: count,
  }),
  /** How keys and values of the cross-attention lie between encoder and decoder. */
  crossAttention: z.object({
    element: z.enum(['int8', 'float32', 'float16']),
    /** Frames behind each key and value, by layer. */
    framesPerKey: z.array(z.int().positive()),
    /** Keys of a channel that lie together; 0: all of them. */
    keysPerBlock: count,
    /** Whether the encoder may be given fewer steps than a window has, and what the sums of the missing keys are then; null: it may not. */
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
    /** Highest first timestamp, as an offset from the first one. */
    latestStart: count,
    transcribe: token,
    /** By Whisper's code of the language; empty for English-only models. */
    languages: z.record(z.string(), token),
    suppressed: z.array(token),
    suppressedAtStart: z.array(token),
  }),
  recipe: recipeSchema,
  /** Bytes by the shapes: of one decoded window, and of a whole thread with the recipe's rows. */
  memory: z.object({ row: count, thread: count }),
  check: checkSchema.optional(),
  files: z.array(z.object({ name: z.string(), bytes: count, sha256 })),
});
export type Descriptor = z.infer<typeof descriptorSchema>;
export type DeviceName = Descriptor['devices'][number];

/** Reads the descriptor of a model's folder. Throws when there is none, or one of another version. */
export function readDescriptor(folder: string): Descriptor {
  const path = join(folder, DESCRIPTOR);
  const remedy = 'remove it ("longhand models remove") and import or pull it again';
  let text: string;
  try {
    text = readFileSync(path, 'utf8');
  } catch (cause) {
    const { code } = cause as NodeJS.ErrnoException;
    const found = code === 'ENOENT' ? `it has no ${DESCRIPTOR}; was it made by an earlier version? Then` : `${code};`;
    throw Object.assign(new Error(`Cannot open the model in ${folder}: ${found} ${remedy}`, { cause }), { code });
  }
  const parsed = descriptorSchema.safeParse(jsonOf(text));
  if (parsed.success) return parsed.data;
  const { path: where = [], message = '' } = parsed.error.issues[0] ?? {};
  const what =
    where[0] === 'interface' ? 'its networks were made by another version' : `${path} is not valid (${where.join('.')}: ${message})`;
  throw new Error(`Cannot open the model in ${folder}: ${what}; ${remedy}`);
}

/** Writes the descriptor, always the same bytes for the same content. */
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
