import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Recipe } from '../../descriptor.ts';
import type { Variant, Weights } from '../graph/graph.ts';
import { completeGeneration, type Generation, type Sizes } from './generation.ts';

/** Parameters of the graphs: dimensions and token ids of a Whisper checkpoint. */
export interface ModelDimensions {
  /** Channels between the layers. */
  width: number;
  encoderHeads: number;
  decoderHeads: number;
  encoderLayers: number;
  decoderLayers: number;
  melBins: number;
  vocabulary: number;
  /** Token ids. Text ids are below `endOfText`, then special tokens, then timestamps from `firstTimestamp` on. */
  endOfText: number;
  firstTimestamp: number;
  /** Tokens that a transcript never contains: music notes, brackets. */
  suppressed: readonly number[];
  alignmentHeads: [number, number][];
}

/** The parts of config.json that are used. */
export interface Config extends Sizes {
  max_target_positions?: number;
  model_type?: string;
  d_model: number;
  encoder_attention_heads: number;
  encoder_layers: number;
  /** Default: four times d_model. */
  encoder_ffn_dim?: number;
  decoder_ffn_dim?: number;
  num_mel_bins: number;
  activation_function?: string;
  scale_embedding?: boolean;
}

/** Reads `config.json`. Throws if the checkpoint's architecture is not OpenAI's Whisper. */
export function readConfig(folder: string): Config {
  const config = readJson<Config>(folder, 'config.json');
  if (config.model_type !== 'whisper') {
    throw new Error(`Cannot build ${folder}: config.json says model_type ${config.model_type}; expected a Whisper checkpoint`);
  }
  if ((config.activation_function ?? 'gelu') !== 'gelu' || config.scale_embedding) {
    throw new Error(`Cannot build ${folder}: its activation or embedding differs from Whisper's (wanted gelu and scale_embedding false)`);
  }
  return config;
}

/** Reads `generation_config.json` and fills in what is missing; `complete`: the file can be used unchanged. */
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

/** Throws if the sizes of the weights differ from config.json: the graphs would be built but could not be loaded. */
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

/** Encoder frames per key and value of decoder layer `l`. */
export function framesPerKey({ pooledLayers }: Recipe, variant: Variant, l: number): 1 | 2 {
  return isInt8(variant) && pooledLayers.includes(l) ? 2 : 1;
}

/** Whether products are 8-bit. */
export function isInt8(variant: Variant): boolean {
  return variant.startsWith('int8');
}

/**
 * Block length of the cross-attention's keys in the 8-bit variants: each block holds this many keys of each channel in turn. A single
 * query's product takes 50 % less time than with all keys of a channel in one row.
 */
export const BLOCK = 250;

/** Throws if the file does not exist or is not JSON. */
export function readJson<T>(folder: string, name: string): T {
  try {
    return JSON.parse(readFileSync(join(folder, name), 'utf8')) as T;
  } catch (cause) {
    const wanted =
      'expected a Whisper checkpoint folder in the Hugging Face layout, with config.json, tokenizer.json and model.safetensors';
    throw new Error(`Cannot read ${join(folder, name)}: ${wanted}`, { cause });
  }
}
