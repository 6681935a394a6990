import { createHmac } from 'node:crypto';
import { LIMITS } from '../../api/contract/limits.ts';
import type { Vault } from '../secrets/vault.ts';
import { asked, formsOf } from './words.ts';

/*
 * The index contains no words, only terms: HMAC-SHA256 of normalised words under a key of the workspace, truncated to 40 bits. With a
 * million different words, a word shares its term with another one with a probability of one in a million. Without the key a term reveals
 * nothing.
 */

export const TERM_BITS = 40;
const PURPOSE = 'search';
const TITLE = '\u0001'; // prefix of a form that occurs in the title

/** The key with which a workspace's words are hashed, and the version of the data key it is derived from. */
export interface SearchKey {
  version: number;
  key: Buffer;
}

export function searchKey(vault: Vault, workspaceId: string): Promise<SearchKey> {
  return vault.derive(workspaceId, PURPOSE);
}

/** Terms of a transcript: of its words and of its title. */
export function termsOf({ key }: SearchKey, said: Iterable<string>, title: string): number[] {
  const forms = new Set<string>();
  for (const text of said) for (const form of formsOf(text)) forms.add(form);
  for (const form of formsOf(title)) forms.add(TITLE + form);
  return [...new Set([...forms].map((form) => term(key, form)))].sort((a, b) => a - b);
}

/** A query: for each word, at least one of these sets of terms must be present completely. */
export type Question = number[][][];

/** Parses the text of a search; null: it contains no word. Words beyond the limit are ignored. */
export function questionOf({ key }: SearchKey, text: string, titlesToo = false): Question | null {
  const words = asked(text).slice(0, LIMITS.SEARCH_WORDS);
  const found = words.map(({ whole, parts }) => {
    const said = parts.length > 1 ? [[whole], parts] : [[whole]];
    const ways = titlesToo ? [...said, ...said.map((way) => way.map((form) => TITLE + form))] : said;
    return ways.map((way) => way.map((form) => term(key, form)));
  });
  return found.length ? found : null;
}

function term(key: Buffer, form: string): number {
  return createHmac('sha256', key)
    .update(form)
    .digest()
    .readUIntBE(0, TERM_BITS / 8);
}
