import type { z } from 'zod';
import { invalid } from '../contract/errors.ts';
import type { Body } from './body.ts';
import { unstorable, walkJson } from './json-tokens.ts';

/** One HTTP request as plain values, independent of the HTTP library. */
export interface Request {
  /** X-Request-Id of the response. */
  readonly id: string;
  /** Upper-case. */
  readonly method: string;
  /** As sent, not decoded, without the query. */
  readonly path: string;
  /** Every parameter, decoded once, with its values in order. */
  readonly parameters: ReadonlyMap<string, readonly string[]>;
  /** By lower-case name. The values of a repeated header are joined by ', ', and its name is in `repeated`. */
  readonly headers: ReadonlyMap<string, string>;
  readonly repeated: ReadonlySet<string>;
  /** The client's address: of the connection, or as reported by a trusted proxy. */
  readonly address: string;
  /** Null if the request has no body. */
  readonly body: Body | null;
  /** True once the client has disconnected: work for it may stop. */
  gone(): boolean;
  /**
   * Aborts when the client disconnects. Accessing it resumes reading from the connection after a second, which is necessary to notice a
   * disconnect; a client that pipelines its next request meanwhile loses the connection.
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

/** Splits a path at slashes, then decodes every segment once. Null if one is not valid percent-encoded UTF-8 or contains NUL. */
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
 * Parses the parameters that `schema` knows; others are ignored. Throws `validation_error`, also for a known one that is repeated or
 * contains NUL.
 */
export function readQuery<Q extends z.ZodType>(parameters: Request['parameters'], schema: Q): z.output<Q> {
  const known = Object.keys((schema as unknown as z.ZodObject).shape);
  const input: Record<string, string> = {};
  const errors: { field: string; message: string }[] = [];
  for (const name of known) {
    const values = parameters.get(name);
    if (!values) continue;
    if (values.length > 1) errors.push({ field: name, message: 'was given more than once' });
    else if (values[0]!.includes('\0')) errors.push({ field: name, message: 'contains NUL' });
    else input[name] = values[0]!;
  }
  if (errors.length) throw invalid(errors);
  return check(schema, input);
}

/** Parses `value` with `schema`. Throws `validation_error` that names every invalid field. */
export function check<S extends z.ZodType>(schema: S, value: unknown): z.output<S> {
  const parsed = schema.safeParse(value);
  if (parsed.success) return parsed.data;
  throw invalid(parsed.error.issues.map((issue) => ({ field: issue.path.join('.') || 'body', message: issue.message })));
}

/**
 * Parses the JSON body. Throws `validation_error` if it is missing, too long, not UTF-8 or malformed, or if part of it would be lost: a
 * repeated key, a character that cannot be stored.
 */
export async function readJson(body: Body | null, limit: number): Promise<unknown> {
  const refuse = (message: string) => invalid([{ field: 'body', message }]);
  if (!body) throw refuse('a JSON body is required, but none was sent');
  const bytes = await body.read(limit);
  if (!bytes) throw refuse(`must be complete and at most ${limit} bytes`);
  if (!bytes.length) throw refuse('a JSON body is required, but it is empty');
  let text: string;
  let value: unknown;
  try {
    text = new TextDecoder('utf-8', { fatal: true }).decode(bytes);
    value = JSON.parse(text);
  } catch {
    throw refuse('is not valid JSON in UTF-8');
  }
  const storable = (string: string) => {
    if (unstorable(string)) throw refuse('contains U+0000 or an unpaired surrogate, which cannot be stored');
  };
  walkJson(text, {
    key: (name, known) => {
      storable(name);
      if (known.has(name)) throw refuse(`contains the field ${JSON.stringify(name)} twice`);
    },
    string: storable,
  });
  return value;
}
