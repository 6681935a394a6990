/** What `walkJson` meets. */
export interface JsonVisitor {
  /** A key of an object, with the keys that came before it there. */
  key(name: string, known: ReadonlySet<string>): void;
  /** A string that is a value. */
  string(value: string): void;
  /** A number as it is written. */
  number?(text: string): void;
  /** An object or array begins; the outermost is level 1. */
  level?(level: number): void;
}

const TOKENS = /"(?:[^"\\]|\\.)*"|[-\d][\d.eE+-]*|[{}[\]:]/g; // true, false, null, commas and white space say nothing here
const LONE = /\p{Surrogate}/u; // half of a character

/**
 * Walks over the tokens of a valid JSON text: JSON.parse alone would round long numbers and keep only the last of repeated keys. As deep as
 * the text is nested, without recursion.
 */
export function walkJson(text: string, visitor: JsonVisitor): void {
  const keys: (Set<string> | null)[] = []; // of every open object; null for an array
  let word: string | null = null; // a string that may turn out to be a key
  const endWord = () => {
    if (word !== null) visitor.string(word);
    word = null;
  };
  for (const [token] of text.matchAll(TOKENS)) {
    if (token === ':') {
      const known = keys.at(-1)!;
      visitor.key(word!, known);
      known.add(word!);
      word = null;
      continue;
    }
    endWord();
    if (token[0] === '"') word = JSON.parse(token) as string;
    else if (token === '{' || token === '[') {
      keys.push(token === '{' ? new Set() : null);
      visitor.level?.(keys.length);
    } else if (token === '}' || token === ']') keys.pop();
    else visitor.number?.(token);
  }
  endWord();
}

/** True for text that PostgreSQL cannot hold: with U+0000, or with half of a character. */
export function unstorable(text: string): boolean {
  return text.includes('\0') || LONE.test(text);
}
