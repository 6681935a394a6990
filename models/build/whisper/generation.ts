import { isForOtherSize, publishedHeads } from './alignment-heads.ts';
import type { Config } from './files.ts';

/** Reads and completes `generation_config.json`, the decoding parameters. Fine-tuned checkpoints often lack parts of it. */

export interface Generation extends Record<string, unknown> {
  eos_token_id: number;
  decoder_start_token_id: number;
  no_timestamps_token_id: number;
  /** [layer, head] of the decoder heads whose cross-attention follows the words in time. */
  alignment_heads: [number, number][];
  suppress_tokens?: number[] | null;
  /** Ids of the language tokens, by their text. */
  lang_to_id?: Record<string, number> | null;
  task_to_id?: Record<string, number> | null;
}

/** The parts of config.json used here. */
export type Sizes = Pick<
  Config,
  | 'vocab_size'
  | 'decoder_layers'
  | 'decoder_attention_heads'
  | 'eos_token_id'
  | 'decoder_start_token_id'
  | 'suppress_tokens'
  | 'begin_suppress_tokens'
>;

/** Tokens for 0.00 to 30.00 s in steps of 0.02 s: the last ids of every Whisper vocabulary. */
export const TIMESTAMPS = 1501;
const FIRST_MULTILINGUAL_SIZE = 51865; // tokens; smaller vocabularies are English-only, although their tokenizers list the languages too

/** Fields that a file of another checkpoint has wrong. */
const OWN = [
  'decoder_start_token_id',
  'no_timestamps_token_id',
  'prev_sot_token_id',
  'is_multilingual',
  'lang_to_id',
  'task_to_id',
  'alignment_heads',
];

/**
 * Fills in what is missing from the tokenizer's special tokens and OpenAI's defaults. Existing values stay, except for ids that contradict
 * the tokenizer or are not one number, as newer libraries write lists, and alignment heads that the decoder does not have or, where its size
 * has published ones, that belong to another: fine-tuned checkpoints often carry the file of base, distilled ones the heads of the larger
 * model they were made from. Returns `given` itself if it is complete.
 * @param tokens the tokenizer's added tokens, text to id.
 */
export function completeGeneration(given: Partial<Generation>, config: Sizes, tokens: ReadonlyMap<string, number>): Generation {
  const noTimestamps = tokens.get('<|notimestamps|>') ?? config.vocab_size - TIMESTAMPS - 1;
  const multilingual = config.vocab_size >= FIRST_MULTILINGUAL_SIZE;
  const start = config.decoder_start_token_id ?? tokens.get('<|startoftranscript|>');
  const [translate, transcribe] = [tokens.get('<|translate|>'), tokens.get('<|transcribe|>')];
  const defaults: Record<string, unknown> = {
    eos_token_id: isToken(config.eos_token_id) ? config.eos_token_id : tokens.get('<|endoftext|>'),
    decoder_start_token_id: start,
    no_timestamps_token_id: noTimestamps,
    prev_sot_token_id: tokens.get('<|startofprev|>') ?? noTimestamps - 2,
    max_initial_timestamp_index: 50, // 1 s
    is_multilingual: multilingual,
    suppress_tokens: config.suppress_tokens ?? undefined,
    begin_suppress_tokens: config.begin_suppress_tokens ?? undefined,
    alignment_heads: alignmentHeads(config),
    ...(multilingual ? { lang_to_id: languages(tokens, start, translate), task_to_id: { translate, transcribe } } : {}),
  };
  const isForeign = contradicts(given, tokens);
  const kept = isForeign ? Object.fromEntries(Object.entries(given).filter(([key]) => !OWN.includes(key))) : given;
  const unusable = (key: string) =>
    isEmpty(kept[key]) || (key === 'alignment_heads' && !areHeads(kept[key], config)) || (key.endsWith('_token_id') && !isToken(kept[key]));
  const missing = Object.entries(defaults).filter(([key, value]) => value !== undefined && unusable(key));
  return (missing.length === 0 ? kept : { ...kept, ...Object.fromEntries(missing) }) as Generation;
}

/** Whether ids are not those of the tokenizer: the file is that of another checkpoint. */
function contradicts(given: Partial<Generation>, tokens: ReadonlyMap<string, number>): boolean {
  const tasks = Object.entries(given.task_to_id ?? {}).map(([task, id]) => [`<|${task}|>`, id] as const);
  const ids: (readonly [token: string, id: unknown])[] = [
    ['<|notimestamps|>', given.no_timestamps_token_id],
    ['<|startofprev|>', given.prev_sot_token_id],
    ...tasks,
    ...Object.entries(given.lang_to_id ?? {}),
  ];
  return ids.some(([token, id]) => isToken(id) && tokens.has(token) && tokens.get(token) !== id);
}

/** Since its version 4.56, the Trainer of Hugging Face writes the end of text as a list of one. */
export function isToken(value: unknown): value is number {
  return Number.isInteger(value);
}

/** The published heads of a decoder of this size; otherwise, as in OpenAI's code, every head of the upper half of the layers. */
function alignmentHeads({ decoder_layers: layers, decoder_attention_heads: heads, vocab_size: vocabulary }: Sizes): [number, number][] {
  return publishedHeads(layers, heads, vocabulary) ?? upperHalf(layers, heads);
}

function upperHalf(layers: number, heads: number): [number, number][] {
  const first = Math.floor(layers / 2);
  return Array.from({ length: (layers - first) * heads }, (_, i) => [first + Math.floor(i / heads), i % heads]);
}

function areHeads(value: unknown, sizes: Sizes): boolean {
  return areIndices(value, sizes) && !isForOtherSize(value, sizes.decoder_layers, sizes.decoder_attention_heads, sizes.vocab_size);
}

function areIndices(value: unknown, { decoder_layers: layers, decoder_attention_heads: heads }: Sizes): value is [number, number][] {
  const below = (number: unknown, end: number) => Number.isInteger(number) && Number(number) >= 0 && Number(number) < end;
  return Array.isArray(value) && value.every((pair) => below(pair?.[0], layers) && below(pair?.[1], heads));
}

/**
 * The heads that a file lists although they were published for another size, if this decoder has heads of these numbers, else null: those of
 * a file copied from another checkpoint, or right because the decoder was made by deepening the one that they are for. Only measuring tells.
 */
export function doubtfulHeads(given: Partial<Generation>, sizes: Sizes): [number, number][] | null {
  const heads: unknown = given.alignment_heads;
  return !isEmpty(heads) && areIndices(heads, sizes) && !areHeads(heads, sizes) ? heads : null;
}

/** The language tokens are those between <|startoftranscript|> and <|translate|>. */
function languages(tokens: ReadonlyMap<string, number>, start = Number.POSITIVE_INFINITY, end = 0): Record<string, number> {
  return Object.fromEntries([...tokens].filter(([, id]) => id > start && id < end));
}

function isEmpty(value: unknown): boolean {
  return value === undefined || value === null || (typeof value === 'object' && Object.keys(value).length === 0);
}
