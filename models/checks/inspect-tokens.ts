import type { Config, TextTokens } from '../build/whisper/files.ts';
import { type Generation, isToken, TIMESTAMPS } from '../build/whisper/generation.ts';
import { readTextTokens, readTokens } from '../build/whisper/tokenizer.ts';

const BYTES = 256; // tokens that are not the product of a merge
const STRAY = 0.01; // share of text tokens that may be missing or out of order

/** Problems of tokenizer.json, and of the token ids in generation_config.json. */
export function tokenFindings(folder: string, config: Config, generation: Generation): string[] {
  const { vocab_size: vocabulary } = config;
  const ids = readTokens(folder);
  const published = 'use the one published with these weights';
  const foreign = (found: string) => [`tokenizer.json belongs to another model: ${found}; ${published}`];
  const end = (ids.get('<|notimestamps|>') ?? vocabulary) + 1 + TIMESTAMPS;
  const extra = [...ids].flatMap(([token, id]) => (id >= end && id < vocabulary ? [token.slice(0, 40)] : []));
  if (extra.length)
    return [
      `tokenizer.json has tokens after the timestamps (${extra.slice(0, 3).join(', ')}), added in fine-tuning, which would be taken for timestamps; use a checkpoint with Whisper's own tokens`,
    ];
  for (const [token, wanted] of [
    ['<|endoftext|>', isToken(config.eos_token_id) ? config.eos_token_id : generation.eos_token_id],
    ['<|notimestamps|>', vocabulary - TIMESTAMPS - 1],
  ] as const) {
    const id = ids.get(token);
    if (id === undefined) return foreign(`it has no ${token}`);
    if (id !== wanted) return foreign(`${token} is ${id} in it, the checkpoint says ${wanted}`);
  }
  const text = readTextTokens(folder);
  if (!text) return foreign('it is not byte pair encoding with a vocabulary and merges');
  const most = [...Object.values(text.vocab), ...ids.values()].reduce((a, b) => Math.max(a, b), -1);
  if (most >= vocabulary) return foreign(`it has a token ${most}, the weights end at ${vocabulary - 1}`);
  // Others that contradict the tokenizer are not used: completeGeneration() takes the tokenizer's.
  const numbers = { '<|endoftext|>': generation.eos_token_id, '<|startoftranscript|>': generation.decoder_start_token_id };
  const odd = Object.entries(numbers).find(([token, id]) => ids.has(token) && ids.get(token) !== id);
  if (odd) {
    const [token, id] = odd;
    return [`generation_config.json belongs to another model: ${token} is ${id} in it, ${ids.get(token)} in tokenizer.json; ${published}`];
  }
  const words = textFinding(text, ids.get('<|endoftext|>')!);
  return words ? foreign(words) : [];
}

/** A finding if text tokens are missing, or were not numbered in the order of the merges that make them. */
function textFinding({ vocab, merges }: TextTokens, endOfText: number): string | undefined {
  const texts = new Set(Object.values(vocab).filter((id) => id < endOfText)).size;
  const few = STRAY * endOfText;
  if (endOfText - texts > few) return `it has ${texts} text tokens, the checkpoint ${endOfText}`;
  if (texts - BYTES - merges.length > few) return `it has ${texts} text tokens, but only ${merges.length} merges to write them with`;
  let [last, astray] = [-1, 0];
  for (const merge of merges) {
    const id = vocab[Array.isArray(merge) ? merge.join('') : merge.replace(' ', '')] ?? -1;
    if (id !== last + 1) astray++;
    last = id;
  }
  return astray > few ? `${astray} of its text tokens are not in the order of its merges` : undefined;
}
