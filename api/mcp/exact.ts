import { randomUUID } from 'node:crypto';

/* Metadata is returned as given, and JavaScript would round its long numbers: they pass through the tools as marked strings. */

const MARK = randomUUID(); // in nobody's text
const MARKED = new RegExp(`\\\\?"${MARK}:([^"\\\\]+)\\\\?"`, 'g'); // also within a string that is JSON itself

/** As JSON.parse, but every number that would be written otherwise afterwards is a string that `unmark` knows. */
export function parseExact<T>(json: string): T {
  return JSON.parse(
    json.replace(/"[^"\\]*(?:\\.[^"\\]*)*"|-?\d[\d.eE+-]*/g, (token) =>
      token[0] === '"' || JSON.stringify(Number(token)) === token ? token : `"${MARK}:${token}"`,
    ),
  );
}

/** The JSON of an answer with its numbers as they came. */
export function unmark(json: string): string {
  return json.replace(MARKED, '$1');
}
