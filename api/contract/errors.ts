import { z } from 'zod';

interface ErrorRule {
  status: number;
  /** Whether the same request may succeed later; the response then has Retry-After where documented. */
  retry: boolean;
  message: string;
}

/** Every error code that a client can receive. To add an error, add a line. */
export const ERRORS = {
  // general
  unauthorized: {
    status: 401,
    retry: false,
    message: 'Cannot accept the request: send a valid API key in the Authorization header, as "Bearer <API_KEY>"',
  },
  api_access_required: { status: 403, retry: false, message: 'Cannot use the API: the plan of this workspace does not include API access' },
  method_not_allowed: { status: 405, retry: false, message: 'Method not allowed for this path; see the Allow header' },
  validation_error: { status: 422, retry: false, message: 'The request is invalid; see detail.errors' },
  rate_limit_exceeded: { status: 429, retry: true, message: 'Too many requests; retry after the seconds in Retry-After' },
  internal_error: { status: 500, retry: true, message: 'Internal error; report the request_id to the operator' },
  service_unavailable: {
    status: 503,
    retry: true,
    message: 'The service cannot handle this request at the moment; retry after the seconds in Retry-After',
  },
  // scopes
  upload_scope_required: {
    status: 403,
    retry: false,
    message: 'This key may not upload; create a key with the permission "uploads:write"',
  },
  reports_scope_required: {
    status: 403,
    retry: false,
    message: 'This key may not use AI reports; create a key with the permission "reports:write"',
  },
  delete_scope_required: {
    status: 403,
    retry: false,
    message: 'This key may not delete; create a key with the permission "transcriptions:delete"',
  },
  members_scope_required: {
    status: 403,
    retry: false,
    message: 'This key may not manage members; an owner can create one with the permission "members:write"',
  },
  api_key_required: { status: 403, retry: false, message: 'This endpoint takes an API key, not an OAuth token' },
  author_requires_api_key: {
    status: 403,
    retry: false,
    message: 'The author can be changed with an API key only, not with an OAuth token',
  },
  // upload
  length_required: {
    status: 411,
    retry: false,
    message: 'Cannot accept the file without a Content-Length header; chunked uploads are not supported',
  },
  filename_required: {
    status: 400,
    retry: false,
    message: 'Cannot accept the file without a name: send Content-Disposition: attachment; filename="<name>"',
  },
  unsupported_file_format: {
    status: 400,
    retry: false,
    message: 'Cannot accept this file: its extension is not one of the supported formats',
  },
  file_too_small: { status: 400, retry: false, message: 'Cannot accept the file: it is under 1 KB' },
  file_size_limit_exceeded: { status: 413, retry: false, message: 'Cannot accept the file: it is over 2 GB' },
  upload_timeout: { status: 408, retry: true, message: 'The upload stalled or took too long; send the file again' },
  project_not_found: { status: 422, retry: false, message: 'The member who created this key cannot upload to a project with this id' },
  external_id_invalid: {
    status: 422,
    retry: false,
    message: 'X-External-Id must be 1 to 128 printable ASCII characters and must not look like a secret',
  },
  external_id_too_long: { status: 422, retry: false, message: 'X-External-Id must not be longer than 128 characters' },
  metadata_invalid_json: { status: 422, retry: false, message: 'X-Metadata is not valid JSON' },
  metadata_not_object: { status: 422, retry: false, message: 'X-Metadata must be a JSON object' },
  metadata_too_large: { status: 422, retry: false, message: 'X-Metadata must not be larger than 4096 bytes' },
  metadata_key_too_long: { status: 422, retry: false, message: 'Keys in X-Metadata must not be longer than 64 characters' },
  metadata_key_invalid: { status: 422, retry: false, message: 'Keys in X-Metadata must be unique, not empty, without control characters' },
  metadata_too_deep: { status: 422, retry: false, message: 'X-Metadata must not be nested deeper than 3 levels' },
  metadata_value_invalid: {
    status: 422,
    retry: false,
    message: 'X-Metadata contains a value that cannot be stored or that looks like a secret',
  },
  invalid_author: {
    status: 422,
    retry: false,
    message: 'The author must be given as email:<email>, user:<uuid> or external:<provider>:<id>',
  },
  unsupported_author_type: {
    status: 422,
    retry: false,
    message: 'This kind of author is not supported here; use email:<email> or user:<uuid>',
  },
  author_not_member: { status: 422, retry: false, message: 'The author is not an active member of this workspace' },
  too_many_reports: { status: 422, retry: false, message: 'At most 3 reports can be requested at once' },
  prompt_not_found: {
    status: 422,
    retry: false,
    message: 'No report template with this slug is available to the owner of the key; see GET /prompts',
  },
  idempotency_key_invalid: { status: 422, retry: false, message: 'Idempotency-Key must be 1 to 255 printable ASCII characters' },
  idempotency_conflict: {
    status: 409,
    retry: true,
    message: 'An upload with this Idempotency-Key is still in progress; retry after the seconds in Retry-After',
  },
  insufficient_balance: {
    status: 402,
    retry: false,
    message: 'This workspace has no minutes left; top up and upload again',
  },
  too_many_concurrent_uploads: { status: 429, retry: true, message: 'Too many concurrent uploads for this key or workspace' },
  too_many_queued_files: { status: 429, retry: true, message: 'Too many files of this workspace are queued' },
  upload_quota_exceeded: {
    status: 429,
    retry: true,
    message: 'The daily upload quota of this workspace is used up; it resets at 00:00 UTC',
  },
  // reports
  transcription_failed: { status: 409, retry: false, message: 'Cannot write a report: the transcription failed, so there is no text' },
  report_generation_limit: { status: 429, retry: true, message: 'This transcription already has the maximum of 30 reports' },
  daily_reports_quota_exceeded: {
    status: 429,
    retry: true,
    message: 'The daily report quota of this workspace is used up; it resets at 00:00 UTC',
  },
  too_many_queued_reports: { status: 429, retry: true, message: 'Too many reports of this workspace are queued' },
  // OpenAI-compatible endpoints
  invalid_form: { status: 400, retry: false, message: 'The form does not have the expected fields' },
  stream_unsupported: { status: 400, retry: false, message: 'Streaming is not supported; omit stream to get the whole transcript' },
  recording_unusable: { status: 400, retry: false, message: 'Cannot transcribe this recording' },
  model_not_found: { status: 404, retry: false, message: 'No model has this name; see GET /models' },
  transcription_timeout: {
    status: 504,
    retry: false,
    message: 'The transcription is not finished yet. It continues; read it later by its id',
  },
  // other endpoints
  transcription_not_completed: { status: 409, retry: true, message: 'No subtitles yet: the transcription is not completed' },
  delete_rate_exceeded: { status: 429, retry: true, message: 'Too many deletions with this key; retry after the seconds in Retry-After' },
  range_not_satisfiable: { status: 416, retry: false, message: 'The recording has no such bytes; see its size in detail.size_bytes' },
  member_not_found: { status: 404, retry: false, message: 'No active member with this id' },
  identity_not_found: { status: 404, retry: false, message: 'This identity is not linked to this member' },
  identity_conflict: { status: 409, retry: false, message: 'This identity is linked to another member; unlink it first' },
  invalid_identity: {
    status: 422,
    retry: false,
    message: 'provider must be 1 to 32 of a-z, 0-9, _ and -; external_id must be 1 to 128 printable ASCII characters',
  },
} as const satisfies Record<string, ErrorRule>;

export type ErrorCode = keyof typeof ERRORS;

/** Errors that clients identify by their status: `code` is null. */
export const UNCODED = {
  not_found: { status: 404, retry: false, message: 'Not found, or not visible to this key' },
  forbidden: { status: 403, retry: false, message: 'The role of the member who created this key does not allow this' },
  conflict: { status: 409, retry: false, message: 'Someone else has changed this in the meantime; see detail.change' }, // in the console only
} as const satisfies Record<string, ErrorRule>;

export type UncodedError = keyof typeof UNCODED;

/** The body of every error response. */
export const ErrorBody = z
  .object({
    code: z.string().nullable().describe('Machine-readable reason; null if the status is sufficient'),
    message: z.string().describe('Human-readable; may change'),
    detail: z.record(z.string(), z.unknown()).nullable(),
    request_id: z.string(),
  })
  .meta({ id: 'Error' });

export interface ApiErrorOptions {
  /** Replaces the message in the table: what was found, what was expected, what to do. */
  message?: string;
  detail?: Record<string, unknown>;
  /** Whole seconds for Retry-After. */
  retryAfterSeconds?: number;
  headers?: Record<string, string>;
}

/** An error for the client, raised by its code: `throw new ApiError('file_too_small')`. api/http/error-response.ts maps it to HTTP. */
export class ApiError extends Error {
  readonly code: ErrorCode | UncodedError;
  readonly detail: Record<string, unknown> | null;
  readonly retryAfterSeconds: number | null;
  readonly headers: Record<string, string>;

  constructor(code: ErrorCode | UncodedError, options: ApiErrorOptions = {}) {
    super(options.message ?? RULES[code].message);
    this.name = 'ApiError';
    this.code = code;
    this.detail = options.detail ?? null;
    this.retryAfterSeconds = options.retryAfterSeconds ?? null;
    this.headers = options.headers ?? {};
  }
}

const RULES: Readonly<Record<ErrorCode | UncodedError, ErrorRule>> = { ...ERRORS, ...UNCODED };

/** The single 404 for anything absent, deleted, foreign, invisible or malformed: all are indistinguishable. */
export function notFound(): ApiError {
  return new ApiError('not_found');
}

/** 403 for a missing role or edit right. */
export function forbidden(message?: string): ApiError {
  return new ApiError('forbidden', { message });
}

export function invalid(errors: { field: string; message: string }[]): ApiError {
  return new ApiError('validation_error', { message: errors.map((e) => `${e.field}: ${e.message}`).join('; '), detail: { errors } });
}

/** Why a transcription failed (`error_code`). */
export const TRANSCRIPTION_ERRORS = [
  'FILE_CORRUPTED',
  'FILE_NO_AUDIO',
  'RECORDING_TOO_LONG',
  'RECORDING_TOO_SHORT',
  'UPLOAD_INCOMPLETE',
  'UNSUPPORTED_CODEC',
  'PROCESSING_TIMEOUT',
  'ENGINE_ERROR',
] as const;
export type TranscriptionErrorCode = (typeof TRANSCRIPTION_ERRORS)[number];

/** Why a report failed (`error_code`). */
export const REPORT_ERRORS = [
  'TRANSCRIPTION_FAILED',
  'TRANSCRIPT_EMPTY',
  'TRANSCRIPT_TOO_LONG',
  'TEMPLATE_UNAVAILABLE',
  'LLM_UNAVAILABLE',
  'LLM_TIMEOUT',
  'LLM_REFUSED',
  'LLM_INVALID_OUTPUT',
  'INTERNAL_ERROR',
] as const;
export type ReportErrorCode = (typeof REPORT_ERRORS)[number];
