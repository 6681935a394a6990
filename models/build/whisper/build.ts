import { createHash } from 'node:crypto';
import { createReadStream, existsSync } from 'node:fs';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { LOOP, type Recipe, type WhisperDescriptor, writeDescriptor } from '../../descriptor.ts';
import { licencesIn } from '../../install/licence.ts';
import { recipeFor } from '../../recipes/recipes.ts';
import { createGraph, type Variant, type Weights } from '../graph/graph.ts';
import { type WrittenFile, weightBytes, writeModel } from '../graph/write.ts';
import { checkSizes, dimensionsOf, isInt8, type ModelDimensions, readConfig, readGeneration } from './config.ts';
import { addDecoder } from './decoder.ts';
import { describe } from './describe.ts';
import { addEncoder } from './encoder.ts';
import { addLoop } from './loop.ts';
import { addHeadProbe, addScaleProbe } from './probe.ts';
import { Checkpoint, shardsOf } from './safetensors.ts';
import { equalised, smoothed } from './smooth.ts';
import { readTokenizer, TOKENIZER } from './tokenizer.ts';

export interface BuildOptions {
  variant: Variant;
  /** Default: the measured recipe of the checkpoint if there is one, else the general one. */
  recipe?: Recipe;
  /** Default: the name of the output folder. */
  name?: string;
  /** Used instead of those in `from`; with facts about the checkpoint that they come from. */
  weights?: Weights & WhisperDescriptor['checkpoint'];
  /** Used instead of those that the checkpoint lists or that its size has: [layer, head]. */
  alignmentHeads?: [number, number][];
  /** SPDX expression, and the origin of the checkpoint. */
  licence?: string;
  source?: string;
  /** Attribution that the licence requires. */
  attribution?: string;
  /** ISO 8601. */
  createdAt?: string;
  /** 0 to 1, never decreases. */
  onProgress?: (fraction: number) => void;
  signal?: AbortSignal;
  /** See `WriteOptions`. */
  inlineLimit?: number;
}

/** Files copied from the checkpoint, besides its weights and licences. */
const COPIED = ['config.json', 'generation_config.json', 'tokenizer.json', 'tokenizer_config.json', 'preprocessor_config.json'];

/**
 * Builds `encoder.onnx` and `decoder.onnx`, and for GPUs `loop.onnx`, in the folder `to` from a Whisper checkpoint folder in Hugging Face's
 * layout (config.json, tokenizer.json, model.safetensors or its shards) of any size, copies what the ASR model needs besides, and describes
 * the result in `model.json`. Holds one weight at a time. Returns the graph files with their checksums.
 */
export async function build(from: string, to: string, options: BuildOptions): Promise<WrittenFile[]> {
  const { variant, signal } = options;
  const config = readConfig(from);
  const { generation, complete } = readGeneration(from, config, options.alignmentHeads);
  const dimensions = dimensionsOf(config, generation);
  const opened = options.weights ? null : new Checkpoint(from);
  const checkpoint = options.weights ?? opened!;
  try {
    checkSizes(checkpoint, config);
    const sha256 = options.weights?.sha256 ?? (await checkpointSha256(from, signal));
    const recipe = options.recipe ?? recipeFor(sha256, variant);
    await mkdir(to, { recursive: true });
    const companions = await copyCompanions(from, to, {
      ...(complete ? {} : { 'generation_config.json': generation }),
      ...(existsSync(join(from, TOKENIZER)) ? {} : { [TOKENIZER]: readTokenizer(from) }),
    });
    const weights = evened(checkpoint, dimensions, variant, recipe);
    const encoder = createGraph(weights, variant, recipe.scales.rowwise);
    addEncoder(encoder, dimensions, recipe);
    const decoder = createGraph(weights, variant, recipe.scales.rowwise);
    addDecoder(decoder, dimensions, recipe);
    const loop = createGraph(weights, variant, recipe.scales.rowwise);
    if (variant === 'float16') addLoop(loop, dimensions, recipe);
    const total = weightBytes(encoder) + weightBytes(decoder) + weightBytes(loop);
    let done = 0;
    const onBytes = (bytes: number) => options.onProgress?.((done += bytes) / total);
    const write = { onBytes, signal, inlineLimit: options.inlineLimit };
    const encoderFiles = await writeModel(join(to, 'encoder.onnx'), encoder, write);
    const files = [...encoderFiles, ...(await writeModel(join(to, 'decoder.onnx'), decoder, write))];
    if (variant === 'float16') files.push(...(await writeModel(join(to, LOOP), loop, write)));
    const { name = basename(to), licence = 'unknown', source = from, attribution, createdAt } = options;
    const about = { name, licence, source, attribution, variant, createdAt };
    const made = {
      checkpoint: { sha256, parameters: checkpoint.parameters },
      peakConstants: encoder.peakConstants,
      files: [...files, ...companions],
    };
    writeDescriptor(to, describe(about, config, generation, recipe, made));
    return files;
  } finally {
    opened?.close();
  }
}

/** Weights of an equivalent model that loses less in 8 bits. */
function evened(checkpoint: Weights, dimensions: ModelDimensions, variant: Variant, recipe: Recipe): Weights {
  if (!isInt8(variant)) return checkpoint;
  return smoothed(recipe.scales.values === 'equalised' ? equalised(checkpoint, dimensions) : checkpoint, dimensions);
}

/** Losses that an encoder can measure: of attention heads if they are coarse, or of the activations before each matrix in 8 bits. */
export type Probe = 'heads' | 'scales';

/** Builds an encoder that measures (`addHeadProbe`, `addScaleProbe`) what a model of this variant and recipe would lose, at the path `to`. */
export async function buildProbe(
  probe: Probe,
  from: string,
  to: string,
  variant: Variant,
  recipe: Recipe,
  signal?: AbortSignal,
): Promise<void> {
  const config = readConfig(from);
  const dimensions = dimensionsOf(config, readGeneration(from, config).generation);
  const checkpoint = new Checkpoint(from);
  try {
    const weights = evened(checkpoint, dimensions, variant, recipe);
    const graph = createGraph(weights, probe === 'heads' ? variant : 'float32', recipe.scales.rowwise);
    if (probe === 'heads') addHeadProbe(graph, dimensions);
    else addScaleProbe(graph, dimensions);
    await writeModel(to, graph, { signal });
  } finally {
    checkpoint.close();
  }
}

/** Checksum of the weights: of the single file, or of the shards' checksums in order. */
export async function checkpointSha256(folder: string, signal?: AbortSignal): Promise<string> {
  const sums: string[] = [];
  for (const shard of shardsOf(folder)) {
    const hash = createHash('sha256');
    await pipeline(createReadStream(join(folder, shard), { highWaterMark: 1 << 20 }), hash, { signal });
    sums.push(hash.digest('hex'));
  }
  return sums.length === 1 ? sums[0]! : createHash('sha256').update(sums.join('')).digest('hex');
}

/** Copies the companion files; those in `completed` are written from it instead. */
async function copyCompanions(from: string, to: string, completed: Record<string, object>): Promise<WrittenFile[]> {
  const written: WrittenFile[] = [];
  for (const name of [...COPIED, ...(await licencesIn(from))]) {
    const given = completed[name];
    const bytes = given ? Buffer.from(`${JSON.stringify(given, null, 2)}\n`) : await readFile(join(from, name)).catch(() => null);
    if (!bytes) continue;
    await writeFile(join(to, name), bytes);
    written.push({ name, bytes: bytes.length, sha256: createHash('sha256').update(bytes).digest('hex') });
  }
  return written;
}
