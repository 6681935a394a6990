import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Weights } from '../../models/build/graph/graph.ts';
import { dimensionsOf, readConfig, readGeneration } from '../../models/build/whisper/config.ts';
import { Checkpoint } from '../../models/build/whisper/safetensors.ts';

/** A tiny deterministic Whisper checkpoint. Weights are small integers times powers of two: exact in every type. */
export interface Shape {
  mels: 80 | 128;
  encoderLayers: number;
  decoderLayers: number;
  /** Published alignment heads and token ids; false: the folder lacks generation_config.json, as do many fine-tuned checkpoints. */
  generation: boolean;
  /** Text that the model returns for any input, at most 60 bytes. Without it the weights are random. */
  sentence?: string;
  /** Rows of the token embedding that are of no token. */
  padding?: number;
}

export type Dtype = 'F32' | 'F16' | 'BF16' | 'F64';

export const SHAPES: Record<string, Shape> = {
  plain: { mels: 80, encoderLayers: 2, decoderLayers: 2, generation: true },
  other: { mels: 128, encoderLayers: 1, decoderLayers: 3, generation: false },
};

/** Returns the same text for every window, with high confidence. */
export const TALKING: Shape = {
  ...{ mels: 80, encoderLayers: 1, decoderLayers: 2, generation: true },
  sentence: ' the quick brown fox jumps over my lazy dog, twice a week.',
};

export const WIDTH = 64;
export const HEADS = 4;
export const END_OF_TEXT = 256;
export const FIRST_TIMESTAMP = 266;
export const VOCABULARY = FIRST_TIMESTAMP + 1501;
/** Samples per row: 2 s at 16 kHz. */
export const SAMPLES = 32000;
const INNER = 128;
const SPECIAL = [
  'endoftext',
  'startoftranscript',
  'en',
  'de',
  'translate',
  'transcribe',
  'startoflm',
  'startofprev',
  'nospeech',
  'notimestamps',
];

/** Noise of varying amplitude, [2 x SAMPLES]. */
export function samples(): Float32Array {
  return Float32Array.from({ length: 2 * SAMPLES }, (_, i) => Math.fround(((noise(7, i) - 0.5) * ((i % 8000) + 500)) / 16384));
}

/** Writes the checkpoint folder; with `shards` > 1, the weights are split into that many files with an index. */
export function writeCheckpoint(folder: string, shape: Shape, dtype: Dtype, shards = 1): void {
  mkdirSync(folder, { recursive: true });
  const json = (name: string, value: unknown) => writeFileSync(join(folder, name), JSON.stringify(value));
  json('config.json', {
    ...{ model_type: 'whisper', d_model: WIDTH, encoder_layers: shape.encoderLayers, decoder_layers: shape.decoderLayers },
    ...{
      encoder_attention_heads: HEADS,
      decoder_attention_heads: HEADS,
      num_mel_bins: shape.mels,
      vocab_size: VOCABULARY + (shape.padding ?? 0),
    },
    ...{ encoder_ffn_dim: INNER, decoder_ffn_dim: INNER },
    ...{ eos_token_id: END_OF_TEXT, decoder_start_token_id: END_OF_TEXT + 1, activation_function: 'gelu' },
  });
  json('tokenizer.json', {
    added_tokens: SPECIAL.map((name, i) => ({ id: END_OF_TEXT + i, content: `<|${name}|>`, special: true })),
    ...{
      normalizer: null,
      pre_tokenizer: { type: 'ByteLevel', add_prefix_space: false },
      post_processor: null,
      decoder: { type: 'ByteLevel' },
    },
    model: { type: 'BPE', vocab: Object.fromEntries(bytesAsCharacters().map((character, i) => [character, i])), merges: [] },
  });
  if (shape.generation) {
    const ids = { eos_token_id: END_OF_TEXT, decoder_start_token_id: END_OF_TEXT + 1, no_timestamps_token_id: FIRST_TIMESTAMP - 1 };
    json('generation_config.json', {
      ...ids,
      alignment_heads: [
        [1, 3],
        [0, 2],
        [1, 0],
      ],
    });
  }
  const tensors = Object.entries(tensorsOf(shape));
  const weight_map: Record<string, string> = {};
  for (let shard = 0; shard < shards; shard++) {
    const name = shards === 1 ? 'model.safetensors' : `model-0000${shard + 1}-of-0000${shards}.safetensors`;
    const mine = tensors.filter((_, i) => i % shards === shard);
    for (const [tensor] of mine) weight_map[tensor] = name;
    writeFileSync(join(folder, name), safetensors(mine, dtype));
  }
  if (shards > 1) json('model.safetensors.index.json', { weight_map });
}

/** One token per byte, in the encoding of GPT-2's vocabulary: bytes that are not printable Latin-1 are mapped to U+0100 and up. */
function bytesAsCharacters(): string[] {
  let next = 0x100;
  const printable = (byte: number) => (byte >= 0x21 && byte <= 0x7e) || (byte >= 0xa1 && byte !== 0xad);
  return Array.from({ length: 256 }, (_, byte) => String.fromCodePoint(printable(byte) ? byte : next++));
}

type Tensor = { shape: number[]; values: Float32Array };

const made = new Map<string, Record<string, Tensor>>(); // by shape: many files of tests write the same ones

function tensorsOf(shape: Shape): Record<string, Tensor> {
  const key = JSON.stringify(shape);
  const tensors = made.get(key) ?? makeTensors(shape);
  made.set(key, tensors);
  return tensors;
}

function makeTensors({ mels, encoderLayers, decoderLayers, sentence, padding = 0 }: Shape): Record<string, Tensor> {
  const tensors: Record<string, Tensor> = {};
  let seed = 1;
  const add = (name: string, shape: number[], exponent: number, offset = 0) => {
    const mine = ++seed;
    const values = new Float32Array(shape.reduce((a, b) => a * b));
    for (let i = 0; i < values.length; i++) values[i] = offset + (Math.floor(noise(mine, i) * 255) - 127) * 2 ** exponent;
    tensors[`model.${name}`] = { shape, values };
  };
  const norm = (name: string) => {
    add(`${name}.weight`, [WIDTH], -7, 1);
    add(`${name}.bias`, [WIDTH], -10);
  };
  const linear = (name: string, rows: number, columns: number, bias = true) => {
    add(`${name}.weight`, [rows, columns], -9);
    if (bias) add(`${name}.bias`, [rows], -10);
  };
  const attention = (name: string) => {
    for (const part of ['q_proj', 'k_proj', 'v_proj', 'out_proj']) linear(`${name}.${part}`, WIDTH, WIDTH, part !== 'k_proj');
    norm(`${name}_layer_norm`);
  };
  const layer = (name: string) => {
    attention(`${name}.self_attn`);
    if (name.startsWith('decoder')) attention(`${name}.encoder_attn`);
    linear(`${name}.fc1`, INNER, WIDTH);
    linear(`${name}.fc2`, WIDTH, INNER);
    norm(`${name}.final_layer_norm`);
  };
  add('encoder.conv1.weight', [WIDTH, mels, 3], -10);
  add('encoder.conv1.bias', [WIDTH], -10);
  add('encoder.conv2.weight', [WIDTH, WIDTH, 3], -9);
  add('encoder.conv2.bias', [WIDTH], -10);
  add('encoder.embed_positions.weight', [1500, WIDTH], -9);
  for (let l = 0; l < encoderLayers; l++) layer(`encoder.layers.${l}`);
  norm('encoder.layer_norm');
  add('decoder.embed_tokens.weight', [VOCABULARY + padding, WIDTH], -8);
  add('decoder.embed_positions.weight', [448, WIDTH], -9);
  for (let l = 0; l < decoderLayers; l++) layer(`decoder.layers.${l}`);
  norm('decoder.layer_norm');
  if (sentence) setSentence(tensors, sentence);
  return tensors;
}

const PERIOD = 64; // positions after which the text repeats

/** Sets each position embedding to 64 times the embedding of the next token, which dominates whatever the layers add before the logits. */
function setSentence(tensors: Record<string, Tensor>, sentence: string): void {
  const text = Buffer.from(sentence);
  const { values: tokens } = tensors['model.decoder.embed_tokens.weight']!;
  const { values, shape } = tensors['model.decoder.embed_positions.weight']!;
  for (let position = 0; position < shape[0]!; position++) {
    const token = text[position % PERIOD] ?? END_OF_TEXT;
    for (let i = 0; i < WIDTH; i++) values[position * WIDTH + i] = 64 * tokens[token * WIDTH + i]!;
  }
}

function safetensors(tensors: [string, Tensor][], dtype: Dtype): Buffer {
  const header: Record<string, unknown> = {};
  const bodies: Buffer[] = [];
  let at = 0;
  for (const [name, { shape, values }] of tensors) {
    const bytes = encode(values, dtype);
    header[name] = { dtype, shape, data_offsets: [at, (at += bytes.length)] };
    bodies.push(bytes);
  }
  const json = Buffer.from(JSON.stringify(header));
  const length = Buffer.alloc(8);
  length.writeBigUInt64LE(BigInt(json.length));
  return Buffer.concat([length, json, ...bodies]);
}

/** Converts by moving bits: the values are exact in all types. */
function encode(values: Float32Array, dtype: Dtype): Buffer {
  if (dtype === 'F32') return Buffer.from(values.buffer);
  if (dtype === 'F64') return Buffer.from(Float64Array.from(values).buffer);
  const bits = new Uint32Array(values.buffer);
  const half = (b: number) => ((b >>> 16) & 0x8000) | ((b & 0x7fffffff) === 0 ? 0 : ((b & 0x7fffffff) - 0x38000000) >>> 13);
  const short = new Uint16Array(bits.length);
  for (let i = 0; i < bits.length; i++) short[i] = dtype === 'BF16' ? bits[i]! >>> 16 : half(bits[i]!);
  return Buffer.from(short.buffer);
}

/** A number in [0, 1) from a seed and an index: the finaliser of MurmurHash3. */
function noise(seed: number, i: number): number {
  let h = Math.imul(seed, 0x9e3779b1) + i;
  h = Math.imul(h ^ (h >>> 16), 0x85ebca6b);
  h = Math.imul(h ^ (h >>> 13), 0xc2b2ae35);
  return ((h ^ (h >>> 16)) >>> 0) / 2 ** 32;
}

/** The plain checkpoint, opened until teardown. */
export function openPlain(t: { teardown(after: () => unknown): void }) {
  const folder = mkdtempSync(join(tmpdir(), 'longhand-checkpoint-'));
  t.teardown(() => rmSync(folder, { recursive: true }));
  writeCheckpoint(folder, SHAPES.plain!, 'F32');
  const checkpoint = new Checkpoint(folder);
  t.teardown(() => checkpoint.close());
  const config = readConfig(folder);
  return { folder, checkpoint, dimensions: dimensionsOf(config, readGeneration(folder, config).generation) };
}

/** The same weights, but at a few positions one channel of the encoder's first input is larger by `large`, as in large models. */
export function withLargeRows(weights: Weights, large: number): Weights {
  return {
    shape: (name) => weights.shape(name),
    float32(name) {
      const values = weights.float32(name);
      if (name !== 'model.encoder.embed_positions.weight') return values;
      const changed = values.slice();
      for (const position of [3, 77]) changed[position * WIDTH + 5]! += large;
      return changed;
    },
  };
}
