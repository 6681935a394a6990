import { createHmac } from 'node:crypto';
import type { Vault } from '../secrets/vault.ts';
import { asked, formsOf } from './words.ts';

/*
 * What the database holds in place of words: HMAC-SHA256 of their forms under a key of the workspace, cut to 40 bits. Of a million different words two have the
 * same term once in a million; without the key a term says nothing.
 */

export const TERM_BITS = 40;
const PURPOSE = 'search';
const TITLE = '\u0001'; // before a form: found in the title, not in what was said
const MOST_ASKED = 16; // words of a question that count

/** The key under which a workspace's words are hashed, and which of its data keys that comes from. */
export interface SearchKey {
  version: number;
  key: Buffer;
}

export function searchKey(vault: Vault, workspaceId: string): Promise<SearchKey> {
  return vault.derive(workspaceId, PURPOSE);
}

/** Terms of a transcript: of what was said, and of its title. */
export function termsOf({ key }: SearchKey, said: Iterable<string>, title: string): number[] {
  const forms = new Set<string>();
  for (const text of said) for (const form of formsOf(text)) forms.add(form);
  for (const form of formsOf(title)) forms.add(TITLE + form);
  return [...new Set([...forms].map((form) => term(key, form)))].sort((a, b) => a - b);
}

/** A question: of each word any of these sets of terms must be there as a whole. */
export type Question = number[][][];

/** The question that a text asks; null: there is no word in it. */
export function questionOf({ key }: SearchKey, text: string, titlesToo = false): Question | null {
  const words = asked(text).slice(0, MOST_ASKED);
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
