import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Variant, Weights } from '../graph/graph.ts';
import { completeGeneration, type Generation, type Sizes } from './generation.ts';
import { HOP } from './mel.ts';

/** What the graphs depend on: the facts of one Whisper size. */
export interface Whisper {
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

interface Config extends Sizes {
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

export function toWhisper(config: Config, generation: Generation): Whisper {
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

const POSITIONS = 1500; // of the encoder

/** Throws when the weights are those of another size than config.json says: the graphs would be made and could not be opened. */
export function checkSizes(checkpoint: Pick<Weights, 'shape'>, { width, melBins, vocabulary }: Whisper): void {
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

const BASE = 512; // channels of the only size this was measured with

/**
 * Frames of the encoder behind each key and value of decoder layer `l`, in the 8-bit variants. In base, the layers without alignment heads look at the
 * mean of two: word error rates stay (joined speech 9.2 and 9.1 %, short clips 9.3 and 8.9 %, other languages 21.9 and 22.0 %), and the decoder, which
 * is busy reading keys and values, takes a tenth less time. The others would lose half a point; pooling in the encoder costs other languages 1 to 3.
 */
export function framesPerKey({ width, alignmentHeads }: Whisper, l: number): 1 | 2 {
  return width === BASE && !alignmentHeads.some(([layer]) => layer === l) ? 2 : 1;
}

/**
 * Keys of the cross-attention that lie together in the 8-bit variants: of each channel so many, then the next channel. One query's product with them takes
 * half the time that it takes with all keys of a channel in one row.
 */
export const BLOCK = 250;

const MULTILINGUAL = 51_865; // tokens: the heads of the English-only model have other tasks

const COARSE: readonly number[][] = [
  [0, 1, 3, 4, 5, 6],
  [0, 1, 2, 4, 5, 6],
  [2, 6, 7],
  [0, 3, 5, 6, 7],
  [0, 1],
];

/**
 * Heads of encoder layer `l` that need only a rough idea of what is seconds away from them, in the 8-bit variants of base: what the encoder says is 0.106
 * of its size away from float32 instead of 0.094, in the mean of twelve windows of seven languages; with all heads it would be 0.20. Word error rates stay:
 * joined speech 9.1 and 9.1 %, short clips 9.1 and 8.8 %, other languages 19.7 and 20.2 %. The encoder takes a twelfth less time.
 */
export function coarseHeads({ width, vocabulary }: Whisper, l: number): number[] {
  return width === BASE && vocabulary === MULTILINGUAL ? [...(COARSE[l] ?? [])] : [];
}

const QUICK = 176; // samples

/**
 * Samples from one frame of the encoder to the next. In the 8-bit variants of base these are 11 ms instead of the 10 of training: the model hears
 * speech a tenth faster, at its own pitch, and a window holds 33 s instead of 30, so that recognition takes a fourteenth less time. Word error rates
 * stay: joined speech 9.2 and 9.2 %, short clips 9.9 and 9.8 %, other languages 20.7 and 20.0 %, thirty conversations 12.3 and 12.5 %. With 12 ms
 * the last two are 21.9 and 13.1 %, and fast speech suffers.
 */
export function hopOf({ width }: Whisper, variant: Variant): number {
  return width === BASE && variant.startsWith('int8') ? QUICK : HOP;
}

/** Throws when there is no such file, or it is no JSON. */
export function readJson<T>(folder: string, name: string): T {
  try {
    return JSON.parse(readFileSync(join(folder, name), 'utf8')) as T;
  } catch (cause) {
    const wanted = 'wanted a Whisper checkpoint folder as on Hugging Face, with config.json, tokenizer.json and model.safetensors';
    throw new Error(`Cannot read ${join(folder, name)}: ${wanted}`, { cause });
  }
}
