/** Callbacks of `walkJson`. */
export interface JsonVisitor {
  /** An object key, with the keys before it in the same object. */
  key(name: string, known: ReadonlySet<string>): void;
  /** A string value. */
  string(value: string): void;
  /** A number, as written. */
  number?(text: string): void;
  /** Start of an object or array; the outermost is level 1. */
  level?(level: number): void;
}

const TOKENS = /"(?:[^"\\]|\\.)*"|[-\d][\d.eE+-]*|[{}[\]:]/g; // true, false, null, commas and white space are ignored
const LONE = /\p{Surrogate}/u; // unpaired surrogate

/**
 * Visits the tokens of a valid JSON text, because JSON.parse would round long numbers and keep only the last of repeated keys. Handles any
 * nesting depth without recursion.
 */
export function walkJson(text: string, visitor: JsonVisitor): void {
  const keys: (Set<string> | null)[] = []; // keys per open object; null for an array
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

/** Whether PostgreSQL cannot store the text: it contains U+0000 or an unpaired surrogate. */
export function unstorable(text: string): boolean {
  return text.includes('\0') || LONE.test(text);
}
