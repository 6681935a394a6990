import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { WhisperTokenizer } from '@xenova/transformers';

/** Converts tokens to text and back, with the tokenizer files of a model folder. */
export interface Tokenizer {
  /** Text of tokens as Whisper writes it: a word begins with its space. Incomplete characters become U+FFFD. */
  decode(tokens: readonly number[]): string;
  encode(text: string): number[];
}

/** Reads tokenizer.json and, if present, tokenizer_config.json of a model folder. Never accesses the network. */
export async function openTokenizer(folder: string): Promise<Tokenizer> {
  const model = JSON.parse(await readFile(join(folder, 'tokenizer.json'), 'utf8'));
  const config = JSON.parse(await readFile(join(folder, 'tokenizer_config.json'), 'utf8').catch(orNothing));
  model.model.type ??= 'BPE'; // missing in files of old libraries: it would be taken for a list of words
  // Newer files store merges as pairs; the library expects 'left right'.
  model.model.merges = model.model.merges.map((merge: string | string[]) => (Array.isArray(merge) ? merge.join(' ') : merge));
  const tokenizer = new WhisperTokenizer(model, config);
  return {
    decode: (tokens) =>
      tokens.length === 0 ? '' : tokenizer.decode([...tokens], { skip_special_tokens: false, clean_up_tokenization_spaces: false }),
    encode: (text) => tokenizer.encode(text, undefined, { add_special_tokens: false }),
  };
}

/** An empty configuration for a missing file. */
function orNothing(error: NodeJS.ErrnoException): string {
  if (error.code === 'ENOENT') return '{}';
  throw error;
}
