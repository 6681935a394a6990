import type { Piece } from '../frames/pieces.ts';
import { BEGINS_SPACELESS } from '../scripts.ts';

/**
 * Natural logarithm by which the probability of a text grows for each character of a term that it contains, spaces before words included:
 * a term of eight letters becomes 90 times as probable. Not tuned on a published model.
 */
export const BONUS_PER_CHARACTER = 0.5;

const MARK = /^[\p{P}\p{S}]+$/u;

interface Node {
  next: Map<string, Node>;
  /** Letters from the root. */
  depth: number;
  /** A term ends here. */
  complete: boolean;
  /** Where each token leads from here, as far as it is known; null: out of the trie. */
  tokens: Map<number, Node | null>;
}

/** How far a text has come in a term. The bonus is a function of the text's tokens, however they are reached. */
export interface Progress {
  /** Null: within a word that is in no term. */
  node: Node | null;
  /** Bonus of terms that are complete, and with that of the one begun. */
  settled: number;
  pending: number;
}

/** Terms as a trie of letters, in which tokens are steps of several letters: so every way to write a term with tokens is found. */
export class Vocabulary {
  readonly #root: Node = nodeAt(0);
  readonly #pieces: readonly Piece[];
  readonly #bonus: number;

  /** @param terms separated by commas, semicolons or lines; upper and lower case are the same */
  constructor(terms: string, pieces: readonly Piece[], bonus = BONUS_PER_CHARACTER) {
    this.#pieces = pieces;
    this.#bonus = bonus;
    for (const term of terms.split(/[,;\n]/)) {
      const words = term.trim().toLowerCase().split(/\s+/).filter(Boolean);
      if (!words.length) continue;
      const text = words.join(' ');
      this.#add(` ${text}`);
      if (BEGINS_SPACELESS.test(text)) this.#add(text);
    }
  }

  #add(text: string): void {
    let node = this.#root;
    for (const letter of text) {
      const known = node.next.get(letter);
      const following = known ?? nodeAt(node.depth + 1);
      if (!known) node.next.set(letter, following);
      node = following;
    }
    node.complete = true;
  }

  /** Before the first token. A word begins there without a space if tokens are letters. */
  get start(): Progress {
    return { node: this.#root.next.get(' ') ?? this.#root, settled: 0, pending: 0 };
  }

  /** After one more token. */
  advance({ node, settled, pending }: Progress, token: number): Progress {
    const piece = this.#pieces[token];
    if (!piece) return { node, settled, pending };
    const text = 'text' in piece ? piece.text : '';
    const begins = text.startsWith(' ');
    const ended = begins || MARK.test(text) || BEGINS_SPACELESS.test(text);
    const kept = ended && node?.complete ? pending : settled;
    if (node && text) {
      const following = this.#step(node, token, text);
      if (following) return { node: following, settled: kept, pending: pending + this.#bonus * (following.depth - node.depth) };
    }
    const first = text ? this.#step(this.#root, token, text) : null;
    return { node: first, settled: kept, pending: kept + this.#bonus * (first?.depth ?? 0) };
  }

  /** The bonus of a text that ends here. */
  total({ node, settled, pending }: Progress): number {
    return node?.complete ? pending : settled;
  }

  #step(node: Node, token: number, text: string): Node | null {
    const known = node.tokens.get(token);
    if (known !== undefined) return known;
    let at: Node | undefined = node;
    for (const letter of text.toLowerCase()) at = at?.next.get(letter);
    node.tokens.set(token, at ?? null);
    return at ?? null;
  }
}

function nodeAt(depth: number): Node {
  return { next: new Map(), depth, complete: false, tokens: new Map() };
}
