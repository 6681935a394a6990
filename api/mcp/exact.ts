import { randomUUID } from 'node:crypto';

/* Metadata is returned as received, although JavaScript would round long numbers: they pass through the tools as marked strings. */

const MARK = randomUUID(); // random, so that no text contains it
const MARKED = new RegExp(`\\\\?"${MARK}:([^"\\\\]+)\\\\?"`, 'g'); // also within a string that is JSON itself

/** As JSON.parse, but numbers that would be printed differently become strings for `unmark`. */
export function parseExact<T>(json: string): T {
  return JSON.parse(
    json.replace(/"[^"\\]*(?:\\.[^"\\]*)*"|-?\d[\d.eE+-]*/g, (token) =>
      token[0] === '"' || JSON.stringify(Number(token)) === token ? token : `"${MARK}:${token}"`,
    ),
  );
}

/** Restores marked numbers in the JSON of a response. */
export function unmark(json: string): string {
  return json.replace(MARKED, '$1');
}
