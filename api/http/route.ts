import type { z } from 'zod';
import type { ClockWatch } from '../../db/jobs/clock.ts';
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

/** Requirements on a caller. A token gets `tokenError` first, a missing scope `scopeError` (null: 403 without a code). */
export interface Access {
  scope: Scope;
  scopeError: ErrorCode | null;
  /** Set if the endpoint accepts API keys only. */
  tokenError?: ErrorCode;
}

/** Created once by main.ts and passed to every handler. */
export interface Services {
  db: Db;
  /** Bounds what has expired, should the database's clock be set ahead. */
  clock: ClockWatch;
  vault: Vault;
  spool: Spool;
  settings: Settings;
  /** The published limits, lowered by the operator's settings. */
  limits: Limits;
  log: Log;
  metrics: Metrics;
  /** Renders full records. */
  records: Records;
  /** Requests waiting for a transcription to change. */
  waits: Waits;
  /** Number of transcriptions that match filters. */
  totals: Totals;
  /** This process, as the owner of upload leases. */
  nodeId: string;
  /** Transcription ids of uploads in progress in this process. */
  uploadsInFlight: Set<string>;
  /** Rate limits per key, token or signed-in member. */
  rateLimiter: RateLimiter;
  /** Addresses that send invalid keys or cookies. */
  badCredentials: Throttle;
  /** Addresses and identities with failed sign-ins. */
  signIns: Throttle;
  /** Addresses that register many OAuth clients. */
  registrations: Throttle;
}

/**
 * Passed to a handler. Before it runs, 401, 403 plan, 403 token, 403 scope and 429 have been checked; everything else is checked in the
 * order in which the handler accesses it.
 */
export interface Context<Q = unknown, B = unknown> extends Services {
  /** The caller. Throws on a route that requires neither a key nor a session. */
  readonly caller: MemberActor;
  readonly request: Request;
  /** Headers of the response, including error responses; the handler's own headers take precedence. */
  readonly replyHeaders: Record<string, string>;
  /** Path parameters, percent-decoded once. Any text: invalid ids are answered with 404 by the look-up. */
  readonly params: Readonly<Record<string, string>>;
  /** The query parsed by the route's schema. Checked on first access: throws `validation_error` (also for a repeated parameter). */
  readonly query: Q;
  /** Parses the JSON body with the route's schema. Throws `validation_error` if it is missing, malformed or invalid. */
  body(): Promise<B>;
  /** The unvalidated JSON body. Throws `validation_error` if it is missing, malformed or contains NUL. */
  json(): Promise<unknown>;
}

/** A handler's result: `body` is complete, `stream` is sent as it is produced; never both. `Content-Type` goes into `headers`. */
export interface Reply {
  status: number;
  headers?: Readonly<Record<string, string>>;
  body?: string | Uint8Array;
  stream?: AsyncIterable<Uint8Array>;
  /** Bytes of the stream, if they are known: sent as Content-Length. */
  length?: number;
}

/** A documented response. Without `schema`: no body, or one that is not JSON and described by `type`. */
export interface Answer {
  description: string;
  schema?: z.ZodType;
  /** Content types other than JSON. */
  type?: string | readonly string[];
  example?: unknown;
  headers?: Readonly<Record<string, string>>;
}

/** Contents of an error response. */
export interface Refusal {
  status: number;
  code: string | null;
  message: string;
  detail: Record<string, unknown> | null;
}

/** A request header in the OpenAPI description. */
export interface UploadHeader {
  description: string;
  required: boolean;
  example: string;
  /** JSON Schema keywords besides `type: string`. */
  schema?: Readonly<Record<string, unknown>>;
}

export interface RouteSpec<Q extends z.ZodType, B extends z.ZodType> {
  method: Method;
  /** Complete path; `{name}` matches one segment and `{name...}` all remaining ones: `/v1/transcriptions/{id}/export`. */
  path: string;
  /** Operation name in generated clients, never changed once published; required unless the route is `hidden`. */
  id?: string;
  summary: string;
  description?: string;
  tag: string;
  /** Null: no key is required. */
  access: Access | null;
  /** For people signed in to the console: requires their session instead of a key. */
  session?: boolean;
  /** WWW-Authenticate of its 401 response; default: `Bearer`. */
  challenge?: (request: Request, settings: Settings) => string;
  /** Descriptions of the path parameters. */
  params?: Readonly<Record<string, string>>;
  /** An object schema: every parameter arrives as a string. `.meta({ type, ... })` declares its type in OpenAPI. */
  query?: Q;
  /** Query parameters that the handler parses itself, for the description. */
  alsoQuery?: Readonly<Record<string, Omit<Parameter, 'name' | 'in'>>>;
  /** The format of its errors if another API's is promised: the schema, and the body of an error. */
  refusals?: { schema: z.ZodType; body(error: Refusal): unknown };
  /** Strict object schema of the JSON body. */
  body?: B;
  /** Instead of a JSON body: the JSON Schema of a multipart form. */
  form?: Readonly<Record<string, unknown>>;
  /** Instead of a JSON body: the type of the raw bytes, and the request headers that the route reads. */
  upload?: { minBytes: number; headers: Readonly<Record<string, UploadHeader>> };
  answers: Readonly<Record<number, Answer>>;
  /** Errors besides the general ones (401, 403 plan, 404 of unknown paths, 429 rate, 500, 503): codes, or a status if the code is null. */
  errors: readonly (ErrorCode | 403 | 404)[];
  /** Omitted from the OpenAPI description: not part of `/v1`. */
  hidden?: boolean;
  handler(context: Context<z.output<Q>, z.output<B>>): Promise<Reply> | Reply;
}

export type Route = RouteSpec<z.ZodType, z.ZodType>;

/** Declares a route. The schemas determine the types in the handler. */
export function route<Q extends z.ZodType = z.ZodUndefined, B extends z.ZodType = z.ZodUndefined>(spec: RouteSpec<Q, B>): Route {
  return spec as unknown as Route;
}

/** On every personal response: shared caches store nothing, browsers revalidate and do not sniff types. */
export const NO_STORE = { 'cache-control': 'private, no-cache', 'x-content-type-options': 'nosniff' };

const JSON_TYPE = { 'content-type': 'application/json; charset=utf-8' };

export function json(status: number, value: unknown, headers?: Readonly<Record<string, string>>): Reply {
  return { status, headers: { ...JSON_TYPE, ...headers }, body: JSON.stringify(value) };
}

/** A JSON response from text: a record with metadata spliced in as received. */
export function jsonText(status: number, text: string, headers?: Readonly<Record<string, string>>): Reply {
  return { status, headers: { ...JSON_TYPE, ...headers }, body: text };
}

/** 204 or 304 without a body. */
export function empty(status: number, headers?: Readonly<Record<string, string>>): Reply {
  return headers ? { status, headers } : { status };
}
