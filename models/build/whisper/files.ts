import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';

/** The JSON files of a checkpoint folder. They come from elsewhere: what is read of them is checked, and what is not is ignored. */

const FOLDER = 'expected a Whisper checkpoint folder in the Hugging Face layout, with config.json, tokenizer.json and model.safetensors';

const count = z.int().positive();
const token = z.int().nonnegative();
const tokens = z.array(token).nullish();
/** Numbers of tokens, as `vocab.json` and `added_tokens.json` have them. */
export const numbersSchema = z.record(z.string(), token);

const configSchema = z.object({
  d_model: count,
  encoder_layers: count,
  decoder_layers: count,
  encoder_attention_heads: count,
  decoder_attention_heads: count,
  /** Default: four times d_model. */
  encoder_ffn_dim: count.optional(),
  decoder_ffn_dim: count.optional(),
  num_mel_bins: count,
  vocab_size: count,
  max_target_positions: count.optional(),
  activation_function: z.string().optional(),
  scale_embedding: z.boolean().nullish(),
  /** False: the matrix of the output is not that of the token embedding. */
  tie_word_embeddings: z.boolean().nullish(),
  eos_token_id: z.union([token, z.array(token)]).nullish(),
  decoder_start_token_id: token.nullish(),
  suppress_tokens: tokens,
  begin_suppress_tokens: tokens,
});

/** The parts of config.json that are used. */
export type Config = z.infer<typeof configSchema> & {
  /** Rows of the token embedding, where it was padded: those from `vocab_size` on are of no token. */
  paddedVocabulary?: number;
};

/** Reads `config.json`. Throws if it is of another architecture or a number is missing. */
export function readConfigFile(folder: string): Config {
  const { model_type: type } = readJson(folder, 'config.json', z.object({ model_type: z.unknown().optional() }));
  if (type !== 'whisper') throw new Error(`Cannot build ${folder}: config.json says model_type ${type}; expected a Whisper checkpoint`);
  return readJson(folder, 'config.json', configSchema);
}

const generationSchema = z.object({
  suppress_tokens: tokens,
  begin_suppress_tokens: tokens,
  lang_to_id: z.record(z.string().regex(/^<\|.+\|>$/, 'expected the token of a language, such as <|en|>'), token).nullish(),
  task_to_id: numbersSchema.nullish(),
  max_initial_timestamp_index: token.nullish(),
});

/** Reads `generation_config.json`; nothing if there is none. */
export function readGenerationFile(folder: string): Record<string, unknown> {
  const name = 'generation_config.json';
  return existsSync(join(folder, name)) ? readJson(folder, name, generationSchema) : {};
}

/** The special tokens of `tokenizer.json`. */
export const specialSchema = z.object({ added_tokens: z.array(z.object({ id: token, content: z.string() })) });
export type SpecialTokens = z.infer<typeof specialSchema>;

/** The text tokens of `tokenizer.json`: byte pair encoding, as with Whisper. */
export const textSchema = z.object({
  model: z.object({
    type: z.literal('BPE').optional(), // in files of old libraries it is missing
    vocab: numbersSchema,
    merges: z.array(z.union([z.string(), z.tuple([z.string(), z.string()])])),
  }),
});

/** How text is written in tokens. */
export type TextTokens = z.infer<typeof textSchema>['model'];

/** The special tokens of `tokenizer_config.json`. */
export const decoderSchema = z.object({ added_tokens_decoder: z.record(z.string(), z.object({ content: z.string() })).nullish() });

/** The parts of `preprocessor_config.json` that are checked. */
export const featuresSchema = z.object({
  feature_size: count.optional(),
  sampling_rate: count.optional(),
  n_fft: count.optional(),
  hop_length: count.optional(),
  mel_filters: z.unknown().optional(),
});

/** A JSON file as it is. Throws if it does not exist, is not JSON or lacks what the schema asks for. */
export function readJson<T>(folder: string, name: string, schema: z.ZodType<T>): T {
  const path = join(folder, name);
  let text: string;
  try {
    text = readFileSync(path, 'utf8');
  } catch (cause) {
    throw new Error(`Cannot read ${path}: ${FOLDER}`, { cause });
  }
  const content = jsonOf(text);
  if (!content) throw new Error(`Cannot read ${path}: it is not a JSON object (is it a Git LFS pointer, or cut short?); download it again`);
  const { error } = schema.safeParse(content);
  if (!error) return content as T;
  const { path: where, message } = error.issues[0]!;
  throw new Error(`Cannot use ${path}: ${where.join('.')}: ${message}; use the one published with these weights`);
}

function jsonOf(text: string): object | null {
  try {
    const content: unknown = JSON.parse(text);
    return content && typeof content === 'object' && !Array.isArray(content) ? content : null;
  } catch {
    return null;
  }
}
