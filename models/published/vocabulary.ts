import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { refused } from './layout.ts';

/** The tokens of a published model. */
export interface Vocabulary {
  /** Ordered by number; the first token of a word begins with U+2581. */
  tokens: string[];
  blank: number;
}

const BLANK = '<blk>';
const MOST = 2 ** 20; // tokens; the largest published vocabulary has 16,384
const LONGEST = 256; // characters of a token

/**
 * Reads a vocabulary with lines of the form "token number". The blank is the token <blk>, or else one more token at the end, as in NeMo.
 * @param width number of tokens in the output of the model
 */
export function readVocabulary(folder: string, name: string, width: number): Vocabulary {
  const lines = readFileSync(join(folder, name), 'utf8')
    .replace(/^\ufeff/, '')
    .split(/\r?\n/);
  if (lines.at(-1) === '') lines.pop();
  const tokens: string[] = [];
  const wrong = (line: number, why: string) =>
    refused(folder, `line ${line + 1} of ${name} ${why}; wanted "token number", numbered from 0`);
  if (lines.length > MOST) throw refused(folder, `${name} has ${lines.length} lines, which no vocabulary has`);
  for (const [line, text] of lines.entries()) {
    const [, token, number] = /^(.*) (\d+)$/su.exec(text) ?? [];
    if (number === undefined) throw wrong(line, 'has no number');
    const id = Number(number);
    if (id >= lines.length) throw wrong(line, `has the number ${id}, but there are ${lines.length} tokens`);
    if (tokens[id] !== undefined) throw wrong(line, `has the number ${id} once more`);
    if (token!.length > LONGEST) throw wrong(line, `has a token of ${token!.length} characters`);
    tokens[id] = token === '' || token === ' ' ? '\u2581' : token!;
  }
  const named = tokens.indexOf(BLANK);
  if (named < 0 && tokens.length === width - 1) tokens.push(BLANK);
  const blank = named < 0 ? tokens.length - 1 : named;
  if (tokens.length !== width)
    throw refused(folder, `${name} has ${tokens.length} tokens, but the model writes ${width}: they belong to different models`);
  if (tokens[blank] !== BLANK) throw refused(folder, `${name} has no ${BLANK}, so nothing separates tokens`);
  if (!tokens.some((token) => token.startsWith('\u2581')))
    throw refused(folder, `no token of ${name} begins a word (with \u2581), so words could not be separated`);
  return { tokens, blank };
}

/** The vocabulary of tokens in order, with the blank after them. @param width number of tokens in the output of the model */
export function withBlank(folder: string, tokens: readonly string[], width: number): Vocabulary {
  if (tokens.length !== width - 1)
    throw refused(
      folder,
      `config.json has ${tokens.length} tokens, but the model writes ${width} with the blank: they belong to different models`,
    );
  return { tokens: [...tokens, BLANK], blank: tokens.length };
}
