import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Recipe } from '../../descriptor.ts';
import type { Variant, Weights } from '../graph/graph.ts';
import { completeGeneration, type Generation, type Sizes } from './generation.ts';

/** What the graphs depend on: the dimensions and token ids of one Whisper checkpoint. */
export interface ModelDimensions {
  /** Channels between the layers. */
  width: number;
  encoderHeads: number;
  decoderHeads: number;
  encoderLayers: number;
  decoderLayers: number;
  melBins: number;
  vocabulary: number;
  /** Token ids. Text runs up to `endOfText`, then special tokens, then timestamps from `firstTimestamp` on. */
  endOfText: number;
  firstTimestamp: number;
  /** What a transcript never holds: notes of music, brackets. */
  suppressed: readonly number[];
  alignmentHeads: [number, number][];
}

/** What is used of config.json. */
export interface Config extends Sizes {
  max_target_positions?: number;
  model_type?: string;
  d_model: number;
  encoder_attention_heads: number;
  encoder_layers: number;
  num_mel_bins: number;
  activation_function?: string;
  scale_embedding?: boolean;
}

/** Reads `config.json`. Throws when the checkpoint is not a Whisper model as OpenAI's. */
export function readConfig(folder: string): Config {
  const config = readJson<Config>(folder, 'config.json');
  if (config.model_type !== 'whisper') {
    throw new Error(`Cannot build ${folder}: config.json says model_type ${config.model_type}; wanted a Whisper checkpoint`);
  }
  if ((config.activation_function ?? 'gelu') !== 'gelu' || config.scale_embedding) {
    throw new Error(`Cannot build ${folder}: its activation or embedding differs from Whisper's (wanted gelu and scale_embedding false)`);
  }
  return config;
}

/** Reads `generation_config.json`, completed where it is missing or has gaps; `complete` says that the file can be used as it is. */
export function readGeneration(folder: string, config: Config): { generation: Generation; complete: boolean } {
  const given = existsSync(join(folder, 'generation_config.json')) ? readJson<Partial<Generation>>(folder, 'generation_config.json') : {};
  const { added_tokens } = readJson<{ added_tokens: { id: number; content: string }[] }>(folder, 'tokenizer.json');
  const generation = completeGeneration(given, config, new Map(added_tokens.map(({ id, content }) => [content, id])));
  return { generation, complete: generation === given };
}

export function dimensionsOf(config: Config, generation: Generation): ModelDimensions {
  return {
    width: config.d_model,
    encoderHeads: config.encoder_attention_heads,
    decoderHeads: config.decoder_attention_heads,
    encoderLayers: config.encoder_layers,
    decoderLayers: config.decoder_layers,
    melBins: config.num_mel_bins,
    vocabulary: config.vocab_size,
    endOfText: generation.eos_token_id,
    firstTimestamp: generation.no_timestamps_token_id + 1,
    suppressed: generation.suppress_tokens ?? [],
    alignmentHeads: generation.alignment_heads,
  };
}

/** Steps of the encoder. */
export const POSITIONS = 1500;

/** Throws when the weights are those of another size than config.json says: the graphs would be made and could not be opened. */
export function checkSizes(checkpoint: Pick<Weights, 'shape'>, { width, melBins, vocabulary }: ModelDimensions): void {
  const wanted = {
    'model.encoder.conv1.weight': [width, melBins, 3],
    'model.encoder.embed_positions.weight': [POSITIONS, width],
    'model.decoder.embed_tokens.weight': [vocabulary, width],
  };
  for (const [name, dims] of Object.entries(wanted)) {
    const found = checkpoint.shape(name);
    if (`${found}` !== `${dims}`)
      throw new Error(`Cannot build the model: ${name} is [${found}], wanted [${dims}]; the checkpoint does not match its config.json`);
  }
}

/** Frames of the encoder behind each key and value of decoder layer `l`. */
export function framesPerKey({ pooledLayers }: Recipe, variant: Variant, l: number): 1 | 2 {
  return isInt8(variant) && pooledLayers.includes(l) ? 2 : 1;
}

/** Whether products are of 8-bit numbers. */
export function isInt8(variant: Variant): boolean {
  return variant.startsWith('int8');
}

/**
 * Keys of the cross-attention that lie together in the 8-bit variants: of each channel so many, then the next channel. One query's product with them takes
 * half the time that it takes with all keys of a channel in one row.
 */
export const BLOCK = 250;

/** Throws when there is no such file, or it is no JSON. */
export function readJson<T>(folder: string, name: string): T {
  try {
    return JSON.parse(readFileSync(join(folder, name), 'utf8')) as T;
  } catch (cause) {
    const wanted = 'wanted a Whisper checkpoint folder as on Hugging Face, with config.json, tokenizer.json and model.safetensors';
    throw new Error(`Cannot read ${join(folder, name)}: ${wanted}`, { cause });
  }
}
