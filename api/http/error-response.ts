import type { z } from 'zod';
import type { Log } from '../../db/ops/log.ts';
import { databaseAway } from '../../db/postgres/away.ts';
import { Unwanted } from '../../db/postgres/wanted.ts';
import { NO_KEY } from '../../db/secrets/vault.ts';
import { ApiError, ERRORS, type ErrorBody, type ErrorCode, UNCODED, type UncodedError } from '../contract/errors.ts';
import type { Request } from './request.ts';
import { json, type Reply, type Route } from './route.ts';

/**
 * Converts any error of a handler into the contract's error response. Errors other than ApiError are logged and not revealed to the client.
 */
export function refusal(thrown: unknown, request: Request, log: Log, refusals?: Route['refusals']): Reply {
  const error = toApiError(thrown, request, log);
  const { status, code } = published(error);
  const headers: Record<string, string> = status === 401 ? { 'www-authenticate': 'Bearer', ...error.headers } : { ...error.headers };
  const wait = error.retryAfterSeconds ?? (status === 429 || status === 503 ? 1 : null);
  if (wait !== null) headers['retry-after'] = String(Math.max(1, Math.ceil(wait)));
  const told = { code, message: error.message, detail: error.detail };
  const body: z.infer<typeof ErrorBody> = { ...told, request_id: request.id };
  return json(status, refusals ? refusals.body({ status, ...told }) : body, headers);
}

/** An ApiError as it is. Any other error is logged, and becomes one that does not reveal it. */
export function toApiError(thrown: unknown, request: Request, log: Log): ApiError {
  return thrown instanceof ApiError ? thrown : unexpected(thrown, request, log);
}

/** The HTTP status of an error and its published code: null if the status is sufficient. */
export function published({ code }: ApiError): { status: number; code: ErrorCode | null } {
  if (code in UNCODED) return { status: UNCODED[code as UncodedError].status, code: null };
  return { status: ERRORS[code as ErrorCode].status, code: code as ErrorCode };
}

/** 503 if a retry may soon succeed or be properly refused, for example while the database or the spool is unavailable; else 500. */
function unexpected(thrown: unknown, request: Request, log: Log): ApiError {
  if (thrown instanceof Unwanted) return new ApiError('service_unavailable'); // nobody is waiting for it
  const fields = { request: request.id, method: request.method, error: thrown };
  if (unavailable(thrown)) {
    log.warn(fields, 'cannot serve the request at the moment');
    return new ApiError('service_unavailable', { retryAfterSeconds: 5 });
  }
  log.error(fields, 'cannot serve the request');
  return new ApiError('internal_error');
}

const UNAVAILABLE = new Set([
  'ENOSPC', // disk full
  'EDQUOT',
  'EIO', // storage or network share fails
  'ESTALE',
  'EROFS',
  NO_KEY,
  '23503', // foreign key violation: a referenced row was deleted meanwhile; a retry reports that
]);

function unavailable(thrown: unknown): boolean {
  if (!(thrown instanceof Error)) return false;
  return databaseAway(thrown) || UNAVAILABLE.has(String((thrown as { code?: unknown }).code)) || unavailable(thrown.cause);
}
