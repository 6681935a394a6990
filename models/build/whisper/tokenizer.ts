import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { decoderSchema, numbersSchema, readJson, type SpecialTokens, specialSchema, type TextTokens, textSchema } from './files.ts';

export const TOKENIZER = 'tokenizer.json';
const CONFIG = 'tokenizer_config.json';
const [VOCABULARY, MERGES, ADDED] = ['vocab.json', 'merges.txt', 'added_tokens.json'];
/** Files that Transformers' tokenizer in Python writes instead, as in most fine-tuned checkpoints. Tokens in `tokenizer_config.json` are read as well. */
export const PARTS = { needed: [VOCABULARY, MERGES], others: [ADDED] } as const;

/** The text tokens; null if they are not byte pair encoding, as they are with Whisper. */
export function readTextTokens(folder: string): TextTokens | null {
  return textSchema.safeParse(readTokenizer(folder)).data?.model ?? null;
}

/** The special tokens: text to id. */
export function readTokens(folder: string): ReadonlyMap<string, number> {
  return new Map(readTokenizer(folder).added_tokens.map(({ id, content }) => [content, id]));
}

/** Whether the folder has tokenizer.json or its parts. */
export function hasTokenizer(folder: string): boolean {
  return [[TOKENIZER], PARTS.needed].some((names) => names.every((name) => existsSync(join(folder, name))));
}

/** Reads tokenizer.json, or makes it from its parts. Throws if the folder has neither, or a damaged `tokenizer_config.json`, which the engine reads. */
export function readTokenizer(folder: string): SpecialTokens {
  const has = (name: string) => existsSync(join(folder, name));
  const decoder = (has(CONFIG) ? readJson(folder, CONFIG, decoderSchema).added_tokens_decoder : null) ?? {};
  return has(TOKENIZER) || !PARTS.needed.every(has) ? readJson(folder, TOKENIZER, specialSchema) : assembled(folder, has, decoder);
}

function assembled(folder: string, has: (name: string) => boolean, decoder: Record<string, { content: string }>): SpecialTokens {
  const all = Object.entries(readJson(folder, VOCABULARY, numbersSchema));
  const isSpecial = (token: string) => /^<\|.+\|>$/.test(token);
  const added = new Map([
    ...all.filter(([token]) => isSpecial(token)),
    ...Object.entries(decoder).map(([id, { content }]) => [content, Number(id)] as const),
    ...(has(ADDED) ? Object.entries(readJson(folder, ADDED, numbersSchema)) : []),
  ]);
  const merges = readFileSync(join(folder, MERGES), 'utf8')
    .split(/\r?\n/)
    .filter((line, i) => line && !(i === 0 && line.startsWith('#version')));
  const bytes = { type: 'ByteLevel', add_prefix_space: false, trim_offsets: true, use_regex: true };
  const text: TextTokens = { type: 'BPE', vocab: Object.fromEntries(all.filter(([token]) => !added.has(token))), merges };
  const file = {
    version: '1.0',
    added_tokens: [...added].map(([content, id]) => ({ id, content, special: isSpecial(content) })).sort((a, b) => a.id - b.id),
    normalizer: null,
    pre_tokenizer: bytes,
    post_processor: null,
    decoder: bytes,
    model: text,
  };
  return file;
}
