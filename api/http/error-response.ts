import type { z } from 'zod';
import type { Log } from '../../db/ops/log.ts';
import { Unwanted } from '../../db/postgres/wanted.ts';
import { ApiError, ERRORS, type ErrorBody, type ErrorCode, UNCODED, type UncodedError } from '../contract/errors.ts';
import type { Request } from './request.ts';
import { json, type Reply, type Route } from './route.ts';

/**
 * Converts any error of a handler into the contract's error response. Errors other than ApiError are logged and not revealed to the client.
 */
export function refusal(thrown: unknown, request: Request, log: Log, refusals?: Route['refusals']): Reply {
  const error = thrown instanceof ApiError ? thrown : unexpected(thrown, request, log);
  const { status, code } = published(error);
  const headers: Record<string, string> = status === 401 ? { 'www-authenticate': 'Bearer', ...error.headers } : { ...error.headers };
  const wait = error.retryAfterSeconds ?? (status === 429 || status === 503 ? 1 : null);
  if (wait !== null) headers['retry-after'] = String(Math.max(1, Math.ceil(wait)));
  const told = { code, message: error.message, detail: error.detail };
  const body: z.infer<typeof ErrorBody> = { ...told, request_id: request.id };
  return json(status, refusals ? refusals.body({ status, ...told }) : body, headers);
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
  'EAI_AGAIN',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'ECONNREFUSED',
  'ECONNRESET',
  'ENOTFOUND',
  'ETIMEDOUT',
  'EPIPE',
  '40P01', // PostgreSQL: deadlock, rolled back entirely
  '23503', // foreign key violation: a referenced row was deleted meanwhile; a retry reports that
  '53300', // too many connections
  '53100', // disk full
  '57P01', // shutting down
  '57P02', // crashed
  '57P03', // starting
  '57014', // statement timed out or was cancelled
  '55P03', // lock timeout
  '08006', // connection lost
  '08001',
]);
const LOST =
  /Connection terminated|Timeout acquiring a connection|Unable to acquire a connection|Client has encountered a connection error/;

function unavailable(thrown: unknown): boolean {
  if (!(thrown instanceof Error)) return false;
  const code = (thrown as Error & { code?: unknown }).code;
  return UNAVAILABLE.has(String(code)) || LOST.test(thrown.message) || unavailable(thrown.cause);
}
