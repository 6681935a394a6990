import type { z } from 'zod';
import type { Log } from '../../db/ops/log.ts';
import type { Db } from '../../db/postgres/orm.ts';
import type { Vault } from '../../db/secrets/vault.ts';
import type { Spool } from '../../db/spool/spool.ts';
import type { Totals } from '../../db/transcripts/totals.ts';
import type { MemberActor } from '../contract/actor.ts';
import type { ErrorCode } from '../contract/errors.ts';
import type { Limits } from '../contract/limits.ts';
import type { Settings } from '../contract/settings.ts';
import type { Scope } from '../contract/workspace.ts';
import type { RateLimiter, Throttle } from '../guard/limiter.ts';
import type { Parameter } from '../openapi/document.ts';
import type { Metrics } from '../ops/metrics.ts';
import type { Records } from '../v1/records.ts';
import type { Waits } from '../v1/waits.ts';
import type { Request } from './request.ts';

export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE' | 'OPTIONS';

/** What a caller needs. A token answers `tokenError` first, then a missing scope answers `scopeError` (null: 403 without a code). */
export interface Access {
  scope: Scope;
  scopeError: ErrorCode | null;
  /** Given: the endpoint takes API keys only. */
  tokenError?: ErrorCode;
}

/** Made once by main.ts, handed to every handler. */
export interface Services {
  db: Db;
  vault: Vault;
  spool: Spool;
  settings: Settings;
  /** The promises, tightened by the operator. */
  limits: Limits;
  log: Log;
  metrics: Metrics;
  /** Full records as they are sent. */
  records: Records;
  /** Who waits for a transcription to change. */
  waits: Waits;
  /** How many transcriptions filters find. */
  totals: Totals;
  /** This process, as the owner of upload leases. */
  nodeId: string;
  /** Uploads that this process is receiving: the ids of the transcriptions to be. */
  uploadsInFlight: Set<string>;
  /** Requests per key, token or signed-in member. */
  rateLimiter: RateLimiter;
  /** Addresses that send bad keys or cookies. */
  badCredentials: Throttle;
  /** Addresses and identities whose sign-ins fail. */
  signIns: Throttle;
  /** Addresses that register many clients of OAuth. */
  registrations: Throttle;
}

/**
 * What a handler gets. When it runs, 401, 403 plan, 403 token, 403 scope and 429 have been checked; everything else happens in
 * the order in which the handler asks for it.
 */
export interface Context<Q = unknown, B = unknown> extends Services {
  /** Who asks. Throws on a route that wants neither a key nor a session. */
  readonly caller: MemberActor;
  readonly request: Request;
  /** Headers that the answer will have, also when it is a refusal; the handler's own win. */
  readonly replyHeaders: Record<string, string>;
  /** Path parameters, percent-decoded once. Any text: ids are checked by the look-up, which answers 404. */
  readonly params: Readonly<Record<string, string>>;
  /** The query as the route's schema reads it. Checked when first touched: throws `validation_error` (also for a known parameter sent twice). */
  readonly query: Q;
  /** Reads and checks the JSON body against the route's schema. Throws `validation_error` when it is missing, malformed or refused. */
  body(): Promise<B>;
  /** The JSON body unchecked. Throws `validation_error` when it is missing, malformed or holds NUL. */
  json(): Promise<unknown>;
}

/** What a handler returns: `body` is whole, `stream` is sent as it comes; never both. `Content-Type` belongs in `headers`. */
export interface Reply {
  status: number;
  headers?: Readonly<Record<string, string>>;
  body?: string | Uint8Array;
  stream?: AsyncIterable<Uint8Array>;
}

/** One documented answer. `schema` absent: no body, or one that is not JSON and is described by `type`. */
export interface Answer {
  description: string;
  schema?: z.ZodType;
  /** Content types other than JSON. */
  type?: string | readonly string[];
  example?: unknown;
  headers?: Readonly<Record<string, string>>;
}

/** What a refusal says. */
export interface Refusal {
  status: number;
  code: string | null;
  message: string;
  detail: Record<string, unknown> | null;
}

/** A request header in the description. */
export interface UploadHeader {
  description: string;
  required: boolean;
  example: string;
  /** JSON Schema keywords beside `type: string`. */
  schema?: Readonly<Record<string, unknown>>;
}

export interface RouteSpec<Q extends z.ZodType, B extends z.ZodType> {
  method: Method;
  /** Complete, `{name}` marks one segment and `{name...}` all that follow: `/v1/transcriptions/{id}/export`. */
  path: string;
  /** Name of the operation in generated clients, never changed once published; needed unless the route is `hidden`. */
  id?: string;
  summary: string;
  description?: string;
  tag: string;
  /** Null: no key is needed. */
  access: Access | null;
  /** For people who are signed in to the console, by their session instead of a key. */
  session?: boolean;
  /** WWW-Authenticate of its 401; absent: `Bearer`. */
  challenge?: (request: Request, settings: Settings) => string;
  /** What each path parameter is, for the description. */
  params?: Readonly<Record<string, string>>;
  /** An object of parameters: every one arrives as a string. `.meta({ type, ... })` says in OpenAPI what the string holds. */
  query?: Q;
  /** Query parameters that the handler reads by itself, for the description. */
  alsoQuery?: Readonly<Record<string, Omit<Parameter, 'name' | 'in'>>>;
  /** The shape of its refusals, where another API's is promised: the schema, and the body for an error. */
  refusals?: { schema: z.ZodType; body(error: Refusal): unknown };
  /** A strict object: JSON body. */
  body?: B;
  /** In place of a JSON body: the JSON Schema of a multipart form. */
  form?: Readonly<Record<string, unknown>>;
  /** In place of a JSON body: the type of the raw bytes, and the request headers that the route reads. */
  upload?: { minBytes: number; headers: Readonly<Record<string, UploadHeader>> };
  answers: Readonly<Record<number, Answer>>;
  /** Beyond the general ones (401, 403 plan, 404 of unknown paths, 429 rate, 500, 503): codes, or a status where the code is null. */
  errors: readonly (ErrorCode | 403 | 404)[];
  /** Absent from the OpenAPI description: not part of `/v1`. */
  hidden?: boolean;
  handler(context: Context<z.output<Q>, z.output<B>>): Promise<Reply> | Reply;
}

export type Route = RouteSpec<z.ZodType, z.ZodType>;

/** Declares a route. What the handler sees is typed by the schemas. */
export function route<Q extends z.ZodType = z.ZodUndefined, B extends z.ZodType = z.ZodUndefined>(spec: RouteSpec<Q, B>): Route {
  return spec as unknown as Route;
}

/** On every answer to somebody: shared caches keep nothing, browsers ask each time and guess no types. */
export const NO_STORE = { 'cache-control': 'private, no-cache', 'x-content-type-options': 'nosniff' };

const JSON_TYPE = { 'content-type': 'application/json; charset=utf-8' };

export function json(status: number, value: unknown, headers?: Readonly<Record<string, string>>): Reply {
  return { status, headers: { ...JSON_TYPE, ...headers }, body: JSON.stringify(value) };
}

/** JSON that is text already: a record with metadata spliced in as received. */
export function jsonText(status: number, text: string, headers?: Readonly<Record<string, string>>): Reply {
  return { status, headers: { ...JSON_TYPE, ...headers }, body: text };
}

/** 204, 304: no body. */
export function empty(status: number, headers?: Readonly<Record<string, string>>): Reply {
  return headers ? { status, headers } : { status };
}
