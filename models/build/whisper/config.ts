import type { Recipe } from '../../descriptor.ts';
import type { Variant, Weights } from '../graph/graph.ts';
import { type Config, readConfigFile, readGenerationFile } from './files.ts';
import { completeGeneration, doubtfulHeads, type Generation, TIMESTAMPS } from './generation.ts';
import { shapesOf } from './shapes.ts';
import { hasTokenizer, readTokens } from './tokenizer.ts';

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

/** Reads `config.json`; `vocab_size` without padding. Throws if the checkpoint's architecture is not OpenAI's Whisper. */
export function readConfig(folder: string): Config {
  const config = readConfigFile(folder);
  if ((config.activation_function ?? 'gelu') !== 'gelu' || config.scale_embedding) {
    throw new Error(`Cannot build ${folder}: its activation or embedding differs from Whisper's (wanted gelu and scale_embedding false)`);
  }
  for (const heads of [config.encoder_attention_heads, config.decoder_attention_heads]) {
    if (config.d_model % heads)
      throw new Error(
        `Cannot build ${folder}: config.json says ${heads} attention heads for ${config.d_model} channels, which they do not divide; use the one published with these weights`,
      );
  }
  const end = endOfTokens(folder, config);
  return end === config.vocab_size ? config : { ...config, vocab_size: end, paddedVocabulary: config.vocab_size };
}

const PADDED = 8; // rows, or a multiple: training is faster with such sizes

/**
 * The number of tokens. `vocab_size` may be greater, if the token embedding was padded for training: rows after the timestamps that no token of
 * the tokenizer has. They are left out, because they would be taken for timestamps.
 */
function endOfTokens(folder: string, { vocab_size: size }: Config): number {
  if (size % PADDED || !hasTokenizer(folder)) return size;
  const tokens = readTokens(folder);
  const end = (tokens.get('<|notimestamps|>') ?? size) + 1 + TIMESTAMPS;
  return end < size && [...tokens.values()].every((id) => id < end) ? end : size;
}

/**
 * Reads `generation_config.json` and fills in what is missing; `complete`: the file can be used unchanged.
 * @param alignmentHeads instead of those of the file
 */
export function readGeneration(
  folder: string,
  config: Config,
  alignmentHeads?: [number, number][],
): { generation: Generation; complete: boolean } {
  const given = readGenerationFile(folder) as Partial<Generation>;
  const completed = completeGeneration(given, config, readTokens(folder));
  const generation = alignmentHeads ? { ...completed, alignment_heads: alignmentHeads } : completed;
  return { generation, complete: generation === given };
}

/** The checkpoint's alignment heads, if its size speaks against them: see `doubtfulHeads`. */
export function readDoubtfulHeads(folder: string): [number, number][] | null {
  return doubtfulHeads(readGenerationFile(folder), readConfig(folder));
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

/** Throws if the sizes of the weights differ from config.json: the graphs would be built but could not be loaded. */
export function checkSizes(checkpoint: Pick<Weights, 'shape'>, config: Config): void {
  for (const [name, wanted] of shapesOf(config)) {
    const found = checkpoint.shape(name);
    if (`${found}` !== `${wanted}`)
      throw new Error(`Cannot build the model: ${name} is [${found}], wanted [${wanted}]; the checkpoint does not match its config.json`);
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
