import type { z } from 'zod';
import { invalid } from '../contract/errors.ts';
import type { Body } from './body.ts';
import { unstorable, walkJson } from './json-tokens.ts';

/** One HTTP request as plain values: nothing of the HTTP library is left in it. */
export interface Request {
  /** X-Request-Id of the answer. */
  readonly id: string;
  /** Upper-case. */
  readonly method: string;
  /** As sent, not decoded, without the query. */
  readonly path: string;
  /** Every parameter, decoded once, with its values in order. */
  readonly parameters: ReadonlyMap<string, readonly string[]>;
  /** By lower-case name. A header sent twice holds both values joined by ', ' and is named in `repeated`. */
  readonly headers: ReadonlyMap<string, string>;
  readonly repeated: ReadonlySet<string>;
  /** The client's: of the connection, or what a trusted proxy says. */
  readonly address: string;
  /** Null when the request announces none. */
  readonly body: Body | null;
  /** True once the client has gone: work for it may stop. */
  gone(): boolean;
  /**
   * Aborts when the client goes. A handler that touches it has a connection that is read again after a second, for else nobody would notice; a client that
   * sends its next request ahead meanwhile loses the connection.
   */
  readonly signal: AbortSignal;
  /** By performance.now(). */
  readonly startedAt: number;
}

export function parseQuery(text: string): Map<string, string[]> {
  const parameters = new Map<string, string[]>();
  if (!text) return parameters;
  for (const [name, value] of new URLSearchParams(text)) {
    const values = parameters.get(name);
    if (values) values.push(value);
    else parameters.set(name, [value]);
  }
  return parameters;
}

/** Splits a path at its slashes, then decodes every segment once. Null when one is not valid percent-encoded UTF-8 or holds NUL. */
export function segments(path: string): string[] | null {
  if (!path.includes('%')) return path.split('/').slice(1);
  try {
    const parts = path.split('/').slice(1).map(decodeURIComponent);
    return parts.some((part) => part.includes('\0')) ? null : parts;
  } catch {
    return null;
  }
}

/**
 * The parameters that `schema` knows, as it reads them; others are ignored. Throws `validation_error`, also for a known one that came twice
 * or holds NUL.
 */
export function readQuery<Q extends z.ZodType>(parameters: Request['parameters'], schema: Q): z.output<Q> {
  const known = Object.keys((schema as unknown as z.ZodObject).shape);
  const input: Record<string, string> = {};
  const errors: { field: string; message: string }[] = [];
  for (const name of known) {
    const values = parameters.get(name);
    if (!values) continue;
    if (values.length > 1) errors.push({ field: name, message: 'was given more than once' });
    else if (values[0]!.includes('\0')) errors.push({ field: name, message: 'holds NUL' });
    else input[name] = values[0]!;
  }
  if (errors.length) throw invalid(errors);
  return check(schema, input);
}

/** `value` as `schema` reads it. Throws `validation_error` that names every field at fault. */
export function check<S extends z.ZodType>(schema: S, value: unknown): z.output<S> {
  const parsed = schema.safeParse(value);
  if (parsed.success) return parsed.data;
  throw invalid(parsed.error.issues.map((issue) => ({ field: issue.path.join('.') || 'body', message: issue.message })));
}

/**
 * The JSON body. Throws `validation_error` when it is missing, too long, not UTF-8 or malformed, and when something of it would be lost:
 * a key that is repeated, a character that cannot be stored.
 */
export async function readJson(body: Body | null, limit: number): Promise<unknown> {
  const refuse = (message: string) => invalid([{ field: 'body', message }]);
  if (!body) throw refuse('a JSON body is needed, and none was sent');
  const bytes = await body.read(limit);
  if (!bytes) throw refuse(`must be complete and at most ${limit} bytes`);
  if (!bytes.length) throw refuse('a JSON body is needed, and it is empty');
  let text: string;
  let value: unknown;
  try {
    text = new TextDecoder('utf-8', { fatal: true }).decode(bytes);
    value = JSON.parse(text);
  } catch {
    throw refuse('is not valid JSON in UTF-8');
  }
  const storable = (string: string) => {
    if (unstorable(string)) throw refuse('holds U+0000 or half of a character, which cannot be stored');
  };
  walkJson(text, {
    key: (name, known) => {
      storable(name);
      if (known.has(name)) throw refuse(`holds the field ${JSON.stringify(name)} twice`);
    },
    string: storable,
  });
  return value;
}
