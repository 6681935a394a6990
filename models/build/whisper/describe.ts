import { rowBytes, threadBytes } from '../../choosing/memory.ts';
import { INTERFACE, LOOP, type Recipe, type WhisperDescriptor } from '../../descriptor.ts';
import { rowsFor } from '../../recipes/default.ts';
import { SAMPLE_RATE } from '../../sample-rate.ts';
import { WHISPER_BASE_THRESHOLDS } from '../../thresholds.ts';
import type { Variant } from '../graph/graph.ts';
import type { WrittenFile } from '../graph/write.ts';
import { BLOCK, framesPerKey, isInt8 } from './config.ts';
import type { Config } from './files.ts';
import type { Generation } from './generation.ts';
import { LONGEST_TEXT, POSITIONS } from './shapes.ts';

const LATEST_START = 50; // steps, default for generation_config.json
const MASKED = 1e7; // column sum that masks a key: its score is below all others and its weight 0

/** Result of a build: the weights it came from, and the files. */
export interface Made {
  checkpoint: WhisperDescriptor['checkpoint'];
  peakConstants: string[];
  files: WrittenFile[];
}

/** Creates the descriptor of a model built by a recipe. */
export function describe(
  about: Pick<WhisperDescriptor, 'name' | 'licence' | 'source' | 'attribution' | 'variant' | 'createdAt'>,
  config: Config,
  generation: Generation,
  recipe: Recipe,
  { checkpoint, peakConstants, files }: Made,
): WhisperDescriptor {
  const { variant } = about;
  const layers = Array.from({ length: config.decoder_layers }, (_, l) => l);
  const shape = {
    window: { sampleRate: SAMPLE_RATE, steps: POSITIONS, samplesPerStep: 2 * recipe.hop },
    dimensions: {
      width: config.d_model,
      encoderLayers: config.encoder_layers,
      layers: config.decoder_layers,
      heads: config.decoder_attention_heads,
      melBins: config.num_mel_bins,
      vocabulary: config.vocab_size,
      alignmentHeads: generation.alignment_heads,
      longestText: Math.min(config.max_target_positions ?? LONGEST_TEXT, recipe.buckets.at(-1)!), // as the cache of the engine
    },
    crossAttention: {
      element: elementOf(variant),
      framesPerKey: layers.map((l) => framesPerKey(recipe, variant, l)),
      keysPerBlock: isInt8(variant) ? BLOCK : 0,
      unheardSum: isInt8(variant) ? MASKED : null,
      peakConstants,
    },
    recipe,
  };
  const row = rowBytes(shape);
  const rows = Math.min(recipe.rows, rowsFor(row));
  const weights = files.reduce((sum, { name, bytes }) => sum + (name.includes('.onnx') && !name.startsWith(LOOP) ? bytes : 0), 0); // loop.onnx has the same again
  const whole = { ...shape, recipe: { ...recipe, rows } };
  return {
    ...about,
    architecture: 'whisper',
    interface: INTERFACE,
    devices: isInt8(variant) ? ['cpu'] : variant === 'float16' ? ['cuda', 'webgpu', 'cpu'] : ['cpu', 'cuda', 'webgpu'],
    checkpoint,
    ...whole,
    tokens: tokensOf(generation),
    thresholds: WHISPER_BASE_THRESHOLDS,
    memory: { row, thread: threadBytes(whole, weights) },
    files,
  };
}

function elementOf(variant: Variant): WhisperDescriptor['crossAttention']['element'] {
  return variant === 'float16' || variant === 'float32' ? variant : 'int8';
}

function tokensOf(generation: Generation): WhisperDescriptor['tokens'] {
  const noTimestamps = generation.no_timestamps_token_id;
  const languages = Object.entries(generation.lang_to_id ?? {});
  return {
    startOfTranscript: generation.decoder_start_token_id,
    startOfPrevious: Number(generation.prev_sot_token_id ?? noTimestamps - 2),
    endOfText: generation.eos_token_id,
    noSpeech: noTimestamps - 1,
    noTimestamps,
    firstTimestamp: noTimestamps + 1,
    latestStart: Number(generation.max_initial_timestamp_index ?? LATEST_START),
    transcribe: generation.task_to_id?.transcribe ?? noTimestamps - 4,
    languages: Object.fromEntries(languages.map(([token, id]) => [token.slice(2, -2), id])),
    suppressed: generation.suppress_tokens ?? [],
    suppressedAtStart: (generation.begin_suppress_tokens ?? []) as number[],
  };
}
