import { existsSync } from 'node:fs';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createGraph, type Variant } from '../graph/graph.ts';
import { checkSizes, hopOf, readConfig, readGeneration, readJson, toWhisper } from './config.ts';
import { addDecoder } from './decoder.ts';
import { addEncoder } from './encoder.ts';
import { HOP } from './mel.ts';
import { Checkpoint } from './safetensors.ts';
import { smoothed } from './smooth.ts';
import { type WrittenFile, weightBytes, writeModel } from './write.ts';

export interface BuildOptions {
  variant: Variant;
  /** 0 to 1, never falls. */
  onProgress?: (fraction: number) => void;
  signal?: AbortSignal;
  /** See `WriteOptions`. */
  inlineLimit?: number;
}

const PREPROCESSOR = 'preprocessor_config.json';
const WINDOW_FRAMES = 3000;

/** What the recogniser reads beside the graphs, and the licence. */
const COPIED = ['config.json', 'generation_config.json', 'tokenizer.json', 'tokenizer_config.json', PREPROCESSOR, 'LICENSE'];

/**
 * Builds `encoder.onnx` and `decoder.onnx` in the folder `to` from a Whisper checkpoint folder as Hugging Face publishes it (config.json,
 * tokenizer.json, model.safetensors or its shards) of any size, and puts what the recogniser needs beside them.
 * Holds one weight at a time. Returns the graph files with their checksums.
 */
export async function build(from: string, to: string, options: BuildOptions): Promise<WrittenFile[]> {
  const config = readConfig(from);
  const { generation, complete } = readGeneration(from, config);
  const model = toWhisper(config, generation);
  const checkpoint = new Checkpoint(from);
  try {
    checkSizes(checkpoint, model);
    await mkdir(to, { recursive: true });
    await copyCompanions(from, to);
    await writeHop(to, hopOf(model, options.variant));
    if (!complete) await writeFile(join(to, 'generation_config.json'), `${JSON.stringify(generation, null, 2)}\n`);
    const weights = options.variant.startsWith('int8') ? smoothed(checkpoint, model) : checkpoint;
    const encoder = createGraph(weights, options.variant);
    addEncoder(encoder, model);
    const decoder = createGraph(weights, options.variant);
    addDecoder(decoder, model);
    const total = weightBytes(encoder) + weightBytes(decoder);
    let done = 0;
    const onBytes = (bytes: number) => options.onProgress?.((done += bytes) / total);
    const write = { onBytes, signal: options.signal, inlineLimit: options.inlineLimit };
    const encoderFiles = await writeModel(join(to, 'encoder.onnx'), encoder, write);
    return [...encoderFiles, ...(await writeModel(join(to, 'decoder.onnx'), decoder, write))];
  } finally {
    checkpoint.close();
  }
}

/** Says in preprocessor_config.json, which a checkpoint need not have, how far apart the encoder's frames are. */
async function writeHop(folder: string, hop: number): Promise<void> {
  const path = join(folder, PREPROCESSOR);
  const facts = existsSync(path) ? readJson<Record<string, unknown>>(folder, PREPROCESSOR) : { hop_length: HOP };
  if (facts.hop_length === hop) return;
  const samples = WINDOW_FRAMES * hop;
  const changed = { ...facts, hop_length: hop, chunk_length: samples / 16_000, n_samples: samples, nb_max_frames: WINDOW_FRAMES };
  await writeFile(path, `${JSON.stringify(changed, null, 2)}\n`);
}

async function copyCompanions(from: string, to: string): Promise<void> {
  for (const name of COPIED) {
    const bytes = await readFile(join(from, name)).catch(() => null);
    if (bytes) await writeFile(join(to, name), bytes);
  }
}
