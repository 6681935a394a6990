import { BEGINS_SPACELESS, SPACELESS } from '../../scripts.ts';
import { MAX_LOST_SHARE, MAX_LOST_WORDS, VOCABULARY_BONUS, VOCABULARY_LOG_PROB } from '../thresholds.ts';
import { WITHOUT_SPACES } from '../timing/words.ts';
import type { Tokenizer } from '../tokenizer.ts';

/** A term of the vocabulary in each of its forms: with and without a space. */
export interface Term {
  text: string;
  forms: readonly Form[];
}

interface Form {
  tokens: readonly number[];
  /** Begins only after a space, a mark, or a letter of a script without spaces: elsewhere it would be the end of another word. */
  afterMark?: boolean;
}

/** Terms that were likely where greedy decoding chose another token: the highest log-probability of each. */
export type Missed = Map<Term, number>;

/** A prefix of terms. */
interface Node {
  next: Map<number, Node>;
  /** The terms that begin like this. */
  terms: Term[];
  /** The term that ends here. */
  ends: Term | null;
}

/** How far the tokens of a row have got in the vocabulary. */
interface Place {
  node: Node;
  /** Tokens of the unfinished term, and of all finished ones. */
  open: number;
  kept: number;
  finished: Set<Term>;
}

/** The tokens of a hypothesis with their log-probabilities. */
interface Row {
  tokens: readonly number[];
  logProbs: readonly number[];
}

const MAX_TERM_WORDS = 5; // longer entries are sentences, of which only the names count

/** Names and terms that are preferred where the model finds them likely, as a trie of tokens. */
export class Vocabulary {
  /** Number of terms. */
  readonly size: number;
  readonly #root = newNode();
  readonly #afterMark = newNode();
  readonly #isMark: (tokens: readonly number[]) => boolean;

  /** @param isMark whether forms that begin only after a mark may begin after these tokens */
  constructor(terms: readonly Term[], isMark: (tokens: readonly number[]) => boolean = () => false) {
    this.size = terms.length;
    this.#isMark = isMark;
    for (const term of terms) for (const form of term.forms) this.#add(term, form);
  }

  #add(term: Term, { tokens, afterMark }: Form): void {
    let node = afterMark ? this.#afterMark : this.#root;
    for (const token of tokens) {
      const next = node.next.get(token) ?? newNode();
      node.next.set(token, next);
      next.terms.push(term);
      node = next;
    }
    if (tokens.length) node.ends = term;
  }

  /** Number of different terms in the text of a row. */
  count({ tokens, logProbs }: Row): number {
    return this.#place(tokens, logProbs).finished.size;
  }

  /** Added to a row's log-probability: a bonus for each token of the terms in it, complete or just begun, if the token was likely. */
  bonus({ tokens, logProbs }: Row): number {
    const { open, kept } = this.#place(tokens, logProbs);
    return VOCABULARY_BONUS * (open + kept);
  }

  /**
   * The tokens that would begin or continue a term after a row and are likely, with the terms.
   * @param lse log-sum-exp of all allowed tokens
   */
  likely({ tokens, logProbs }: Row, logits: Float32Array, lse: number): { token: number; terms: readonly Term[] }[] {
    const { node } = this.#place(tokens, logProbs);
    const marked = this.#afterMark.next.size > 0 && this.#isMark(tokens);
    return [...new Set([node, this.#root, ...(marked ? [this.#afterMark] : [])])]
      .flatMap(({ next }) => [...next])
      .filter(([token]) => logits[token]! - lse >= VOCABULARY_LOG_PROB)
      .map(([token, { terms }]) => ({ token, terms }));
  }

  #place(tokens: readonly number[], logProbs: readonly number[]): Place {
    const place: Place = { node: this.#root, open: 0, kept: 0, finished: new Set() };
    for (const [i, token] of tokens.entries()) {
      let next = place.node.next.get(token);
      if (!next) {
        place.open = 0;
        next = this.#root.next.get(token) ?? this.#nextAfterMark(tokens, i);
      }
      place.node = next ?? this.#root;
      if (!next) continue;
      if (logProbs[i]! >= VOCABULARY_LOG_PROB) place.open++;
      if (!next.ends) continue;
      place.finished.add(next.ends);
      place.kept += place.open;
      place.open = 0;
    }
    return place;
  }

  #nextAfterMark(tokens: readonly number[], i: number): Node | undefined {
    const next = this.#afterMark.next.get(tokens[i]!);
    return next && this.#isMark(tokens.slice(0, i)) ? next : undefined;
  }
}

function newNode(): Node {
  return { next: new Map(), terms: [], ends: null };
}

/** Notes the terms that were likely where a row took another token. `logits`: those of text; `lse`: log-sum-exp of all allowed tokens. */
export function noteMissed(row: Row & { missed?: Missed }, token: number, vocabulary: Vocabulary, logits: Float32Array, lse: number): void {
  for (const likely of vocabulary.likely(row, logits, lse)) {
    if (likely.token === token) continue;
    row.missed ??= new Map();
    const logProb = logits[likely.token]! - lse;
    for (const term of likely.terms) row.missed.set(term, Math.max(logProb, row.missed.get(term) ?? logProb));
  }
}

/** Missed terms, the likeliest first, as text for a prompt. */
export function prompted(missed: Missed): string {
  const best = [...missed].sort((a, b) => b[1] - a[1]);
  return ` ${best.map(([{ text }]) => text).join(', ')}`;
}

/**
 * Whether a text with more terms is otherwise the same text: in few windows the model repeats its prompt instead of what was spoken.
 * @param gained number of terms
 */
export function keepsRest(before: string, after: string, gained: number): boolean {
  const left = wordsOf(after);
  const words = wordsOf(before);
  const lost = words.filter((word) => {
    const at = left.indexOf(word);
    if (at >= 0) left.splice(at, 1);
    return at < 0;
  });
  return lost.length <= MAX_LOST_WORDS * gained + MAX_LOST_SHARE * words.length;
}

function wordsOf(text: string): string[] {
  return text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? [];
}

let latest: { text: string; spaces: boolean; tokenizer: Tokenizer; vocabulary: Vocabulary } | undefined;

/**
 * The vocabulary of a text, or null if that is empty. The latest is kept, because all windows of a recording share it.
 * @param language a code, or `auto`
 */
export function vocabularyOf(text: string, language: string, tokenizer: Tokenizer): Vocabulary | null {
  if (!text.trim()) return null;
  const spaces = !WITHOUT_SPACES.has(language);
  if (latest?.text !== text || latest.spaces !== spaces || latest.tokenizer !== tokenizer) {
    const terms = termsOf(text).map((term) => ({ text: term, forms: formsOf(term, spaces, tokenizer) }));
    latest = { text, spaces, tokenizer, vocabulary: new Vocabulary(terms, (tokens) => endsInMark(tokens, tokenizer)) };
  }
  return latest.vocabulary;
}

const ENDS_IN_MARK = new RegExp(`(?:[${SPACELESS}]|[^\\p{L}\\p{M}\\p{N}\ufffd])$`, 'u');
const CHARACTER_TOKENS = 4; // of one character at most: its bytes

function formsOf(term: string, spaces: boolean, tokenizer: Tokenizer): Form[] {
  const inside = { tokens: tokenizer.encode(term), afterMark: spaces && !BEGINS_SPACELESS.test(term) };
  const tokens = tokenizer.encode(` ${term}`);
  const isSeparate = tokenizer.decode(tokens.slice(0, 1)) === ' '; // a space is likely nearly everywhere: the form inside begins after it
  return isSeparate ? [inside] : [{ tokens }, inside];
}

/** Whether a text ends where a word may begin without a space: in a mark, a space or a script without spaces; not in a timestamp. */
function endsInMark(tokens: readonly number[], tokenizer: Tokenizer): boolean {
  const text = tokenizer.decode(tokens.slice(-CHARACTER_TOKENS));
  return ENDS_IN_MARK.test(text) && !text.endsWith('|>');
}

const NAME = /^\p{Lu}[\p{L}\p{M}'’-]{3,}$/u;

/** The terms of a vocabulary: entries between commas, semicolons or line breaks, and the names within them. */
export function termsOf(text: string): string[] {
  const entries = text.split(/[,;\n]/).map((entry) => entry.trim().split(/\s+/));
  const short = entries.filter((words) => words.length <= MAX_TERM_WORDS).map((words) => words.join(' '));
  const names = entries.flat().filter((word) => NAME.test(word));
  return [...new Set([...short, ...names])].filter(Boolean);
}
