import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** What the graphs depend on: the facts of one Whisper size. */
export interface Whisper {
  /** Width of the network, attention heads and layers on both sides. */
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
  /** [layer, head] of the decoder whose cross-attention follows the words in time. */
  alignmentHeads: [number, number][];
}

const TIMESTAMPS = 1501; // 0.00 to 30.00 s in steps of 0.02 s: the last ids of every Whisper vocabulary

interface Config {
  model_type?: string;
  d_model: number;
  encoder_attention_heads: number;
  decoder_attention_heads: number;
  encoder_layers: number;
  decoder_layers: number;
  num_mel_bins: number;
  vocab_size: number;
  eos_token_id: number;
  activation_function?: string;
  scale_embedding?: boolean;
}

/** Reads `config.json` and, where the folder has it, `generation_config.json`. Throws when the checkpoint is not a Whisper model. */
export function readConfig(folder: string): Whisper {
  const config = readJson<Config>(join(folder, 'config.json'));
  const generation = existsSync(join(folder, 'generation_config.json'))
    ? readJson<{ no_timestamps_token_id?: number; alignment_heads?: [number, number][] | null }>(join(folder, 'generation_config.json'))
    : {};
  if (config.model_type !== 'whisper') {
    throw new Error(`Cannot build ${folder}: config.json says model_type ${config.model_type}; wanted a Whisper checkpoint`);
  }
  if ((config.activation_function ?? 'gelu') !== 'gelu' || config.scale_embedding) {
    throw new Error(`Cannot build ${folder}: its activation or embedding differs from Whisper's (wanted gelu and scale_embedding false)`);
  }
  const { decoder_layers: layers, decoder_attention_heads: heads } = config;
  return {
    width: config.d_model,
    encoderHeads: config.encoder_attention_heads,
    decoderHeads: heads,
    encoderLayers: config.encoder_layers,
    decoderLayers: layers,
    melBins: config.num_mel_bins,
    vocabulary: config.vocab_size,
    endOfText: config.eos_token_id,
    firstTimestamp: generation.no_timestamps_token_id ? generation.no_timestamps_token_id + 1 : config.vocab_size - TIMESTAMPS,
    alignmentHeads: generation.alignment_heads?.length ? generation.alignment_heads : upperHalf(layers, heads),
  };
}

/** Without published alignment heads OpenAI's code takes every head of the upper half of the decoder. */
function upperHalf(layers: number, heads: number): [number, number][] {
  const upper = Array.from({ length: layers - Math.floor(layers / 2) }, (_, i) => Math.floor(layers / 2) + i);
  return upper.flatMap((layer) => Array.from({ length: heads }, (_, head): [number, number] => [layer, head]));
}

function readJson<T>(path: string): T {
  try {
    return JSON.parse(readFileSync(path, 'utf8')) as T;
  } catch (cause) {
    throw new Error(`Cannot read ${path}: wanted a Whisper checkpoint folder with config.json, tokenizer.json and model.safetensors`, {
      cause,
    });
  }
}
