import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Weights } from './build/graph/graph.ts';
import { readConfig, readGeneration } from './build/whisper/config.ts';
import { BINS, melFilters } from './build/whisper/mel.ts';
import { Checkpoint } from './build/whisper/safetensors.ts';

/** Checks a checkpoint before anything is built from it. */

const ZEROS = 0.005; // share of exact zeros that training never produces: rounding to half precision gives 0.1 %, or 0.4 % for the smallest weights
const FILTER_ERROR = 0.05; // relative to the largest weight of a mel filter
const TIMESTAMPS = 1501; // the last ids of every Whisper vocabulary
const ORDERED = 0.2; // mean correlation of adjacent mel bins in the first layer: 0.5 and more if trained in this order

/** Returns one sentence per problem; none: it may be built. Throws if a file is damaged. */
export function inspect(folder: string): string[] {
  const config = readConfig(folder);
  const { generation } = readGeneration(folder, config);
  const checkpoint = new Checkpoint(folder);
  try {
    return [
      ...melFindings(folder, config.num_mel_bins),
      ...tokenizerFindings(folder, config.vocab_size, generation.eos_token_id),
      ...weightFindings(checkpoint),
    ];
  } finally {
    checkpoint.close();
  }
}

/** Whether the first layer reads its mel bins in order: its weights change little from one bin to the next. */
export function readsBinsInOrder(checkpoint: Weights): boolean {
  const name = 'model.encoder.conv1.weight';
  const [rows, bins, taps] = checkpoint.shape(name) as [number, number, number];
  const kernels = checkpoint.float32(name);
  const sums = { ab: 0, aa: 0, bb: 0 };
  for (let n = 0; n < rows; n++) {
    for (let bin = 0; bin + 1 < bins; bin++) {
      for (let tap = 0; tap < taps; tap++) {
        const a = kernels[(n * bins + bin) * taps + tap]!;
        const b = kernels[(n * bins + bin + 1) * taps + tap]!;
        sums.ab += a * b;
        sums.aa += a * a;
        sums.bb += b * b;
      }
    }
  }
  return sums.ab / Math.sqrt(sums.aa * sums.bb) > ORDERED;
}

function melFindings(folder: string, bins: number): string[] {
  const path = join(folder, 'preprocessor_config.json');
  if (!existsSync(path)) return [];
  const { feature_size: size, mel_filters: given } = JSON.parse(readFileSync(path, 'utf8')) as {
    feature_size?: number;
    mel_filters?: unknown;
  };
  if (size !== undefined && size !== bins)
    return [`preprocessor_config.json is for ${size} mel bins, config.json for ${bins}: they belong to different models`];
  const flat = Array.isArray(given) ? (given as unknown[]).flat().map(Number) : [];
  if (flat.length !== bins * BINS) return [];
  const ours = melFilters(bins);
  const most = ours.reduce((a, b) => Math.max(a, b));
  const same = (at: (bin: number, frequency: number) => number) =>
    ours.every((value, i) => Math.abs(value - at(Math.floor(i / BINS), i % BINS)) < FILTER_ERROR * most);
  if (same((bin, k) => flat[bin * BINS + k]!) || same((bin, k) => flat[k * bins + bin]!)) return [];
  return [
    'the mel filters in preprocessor_config.json are not those of Whisper (80 or 128 triangles from low to high), so its input would differ',
  ];
}

interface TokenizerFile {
  added_tokens: { id: number; content: string }[];
  model?: { vocab?: Record<string, number> };
}

function tokenizerFindings(folder: string, vocabulary: number, endOfText: number): string[] {
  const { added_tokens: added, model } = JSON.parse(readFileSync(join(folder, 'tokenizer.json'), 'utf8')) as TokenizerFile;
  const ids = new Map(added.map(({ content, id }) => [content, id]));
  const foreign = (found: string) => [`tokenizer.json belongs to another model: ${found}; use the one published with these weights`];
  for (const [token, wanted] of [
    ['<|endoftext|>', endOfText],
    ['<|notimestamps|>', vocabulary - TIMESTAMPS - 1],
  ] as const) {
    const id = ids.get(token);
    if (id === undefined) return foreign(`it has no ${token}`);
    if (id !== wanted) return foreign(`${token} is ${id} in it, the checkpoint says ${wanted}`);
  }
  const most = [...Object.values(model?.vocab ?? {}), ...ids.values()].reduce((a, b) => Math.max(a, b), -1);
  return most < vocabulary ? [] : foreign(`it has a token ${most}, the weights end at ${vocabulary - 1}`);
}

function weightFindings(checkpoint: Checkpoint): string[] {
  let [zeros, all, broken] = [0, 0, ''];
  for (const name of checkpoint.names()) {
    const shape = checkpoint.shape(name);
    if (shape.length < 2) continue;
    for (const value of checkpoint.float32(name)) {
      if (value === 0) zeros++;
      else if (!Number.isFinite(value)) broken = name;
    }
    all += shape.reduce((product, size) => product * size);
  }
  if (broken) return [`its weights are damaged: ${broken} has values that are not numbers; download or copy the checkpoint again`];
  if (zeros <= ZEROS * all) return [];
  const percent = ((100 * zeros) / all).toFixed(1);
  return [`its weights are damaged: ${percent} % of them are exactly zero, which training does not produce; download or copy it again`];
}
