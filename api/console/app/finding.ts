import { asked, fold } from '../../../db/search/words.ts';

/*
 * Finds in a text what a search of the list finds: every word of the query, ignoring case, accents and the joints of compounds. A single
 * word is found inside others too, and the last of several by its beginning, because it may still be being typed.
 */

/** Part of a text: positions of its first character and after its last one. */
export type Span = readonly [from: number, to: number];

const JOINT = "['’ʼ`\\-‐‑.,]"; // may stand between two letters of a word
const LETTER = '[\\p{L}\\p{M}\\p{N}]';
const UNSPACED = /^[\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}\p{sc=Thai}\p{sc=Lao}\p{sc=Khmer}\p{sc=Myanmar}]/u;
const CLUSTER = /\P{M}\p{M}*|\p{M}/gu;
const FOREIGN = /[^\0-\x7f]/;
const LEAST = 2; // characters of a query
const folds = new Map<string, string>(); // by cluster: a letter with its accents

/** A pattern per word of a query, for `foldText`; null: the query is too short, or contains no word. */
export function patternsOf(search: string): RegExp[] | null {
  const words = search.trim().length < LEAST ? [] : asked(search);
  const patterns = words.map(({ parts }, index) => {
    const word = parts.map((part) => [...part].map(unify).join(`${JOINT}?`)).join(`(?:${JOINT}|\\s)*`);
    if (words.length === 1 || UNSPACED.test(parts[0]!)) return new RegExp(word, 'gu');
    return new RegExp(`(?<!${LETTER})${word}${index < words.length - 1 ? `(?!${LETTER})` : ''}`, 'gu');
  });
  return patterns.length ? patterns : null;
}

/** A text without case and accents. */
export function foldText(text: string): string {
  return FOREIGN.test(text) ? Array.from(text.match(CLUSTER) ?? [], foldCluster).join('') : text.toLowerCase();
}

/** Indexes of the folded texts that contain the most words of a query. */
export function fullest(folded: readonly string[], patterns: readonly RegExp[]): number[] {
  const counts = folded.map((text) => patterns.filter((word) => text.search(word) >= 0).length);
  const most = counts.reduce((a, b) => Math.max(a, b), 1);
  return counts.flatMap((count, index) => (count === most ? index : []));
}

/** Parts of a text that match, in order and apart from each other. */
export function spansOf(text: string, patterns: readonly RegExp[] | null): Span[] {
  if (!patterns) return [];
  const { folded, places } = placed(text);
  const found = patterns.flatMap((word) =>
    [...folded.matchAll(word)].map(({ index, 0: { length } }): Span => [places(index)[0], places(index + length - 1)[1]]),
  );
  const apart: Span[] = [];
  for (const [from, to] of found.sort((a, b) => a[0] - b[0])) {
    const last = apart.at(-1);
    if (last && from < last[1]) apart[apart.length - 1] = [last[0], Math.max(last[1], to)];
    else apart.push([from, to]);
  }
  return apart;
}

/** The folded text, with the place in the text that each of its characters came from. */
function placed(text: string): { folded: string; places: (index: number) => Span } {
  if (!FOREIGN.test(text)) return { folded: text.toLowerCase(), places: (index) => [index, index + 1] };
  const spans: Span[] = [];
  for (const { 0: cluster, index } of text.matchAll(CLUSTER))
    for (let i = foldCluster(cluster).length; i > 0; i--) spans.push([index, index + cluster.length]);
  return { folded: foldText(text), places: (index) => spans[index]! };
}

function foldCluster(cluster: string): string {
  let folded = folds.get(cluster);
  if (folded === undefined) folds.set(cluster, (folded = unify(fold(cluster))));
  return folded;
}

/** The Greek sigma at the end of a word is the same letter. */
const unify = (letters: string) => letters.replace(/ς/g, 'σ');
