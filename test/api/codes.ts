/** Every (endpoint, status, code) of the API (part 7 of test/api/conformance/rules.ts). Null: a response without a code. */
export type Pair = readonly [endpoint: string, status: number, code: string | null];

const ID = '7f2c1c9e-5d0b-4f1e-9a53-0d6f1b2c3d4e';

/** The endpoints, each with a path for requests. */
export const ENDPOINTS: readonly (readonly [endpoint: string, path: string])[] = [
  ['POST /transcriptions', '/v1/transcriptions'],
  ['GET /transcriptions', '/v1/transcriptions'],
  ['GET /transcriptions/{id}', `/v1/transcriptions/${ID}`],
  ['PATCH /transcriptions/{id}', `/v1/transcriptions/${ID}`],
  ['DELETE /transcriptions/{id}', `/v1/transcriptions/${ID}`],
  ['GET /transcriptions/{id}/export', `/v1/transcriptions/${ID}/export`],
  ['GET /transcriptions/{id}/subtitles', `/v1/transcriptions/${ID}/subtitles?format=srt`],
  ['GET /transcriptions/{id}/recording', `/v1/transcriptions/${ID}/recording`],
  ['POST /transcriptions/export', '/v1/transcriptions/export'],
  ['GET /prompts', '/v1/prompts'],
  ['POST /transcriptions/{id}/reports', `/v1/transcriptions/${ID}/reports`],
  ['GET /workspace', '/v1/workspace'],
  ['GET /projects', '/v1/projects'],
  ['GET /workspace/members', '/v1/workspace/members'],
  ['PUT /workspace/members/{user_id}/identities', `/v1/workspace/members/${ID}/identities`],
  ['DELETE /workspace/members/{user_id}/identities/{provider}/{external_id}', `/v1/workspace/members/${ID}/identities/crm/7`],
];

/** Errors of every endpoint. */
export const EVERYWHERE: readonly (readonly [status: number, code: string])[] = [
  [401, 'unauthorized'],
  [403, 'api_access_required'],
  [429, 'rate_limit_exceeded'],
  [405, 'method_not_allowed'],
];

const at = (endpoint: string, ...codes: [number, ...(string | null)[]][]): Pair[] =>
  codes.flatMap(([status, ...names]) => names.map((name) => [endpoint, status, name] as const));

const IDENTITIES = '/workspace/members/{user_id}/identities';

export const PAIRS: readonly Pair[] = [
  ...at(
    'POST /transcriptions',
    [400, 'unsupported_file_format', 'file_too_small', 'filename_required'],
    [402, 'insufficient_balance'],
    [403, 'upload_scope_required', 'reports_scope_required'],
    [408, 'upload_timeout'],
    [409, 'idempotency_conflict'],
    [411, 'length_required'],
    [413, 'file_size_limit_exceeded'],
    [422, 'prompt_not_found', 'too_many_reports', 'external_id_invalid', 'external_id_too_long', 'metadata_too_deep'],
    [422, 'metadata_value_invalid', 'metadata_invalid_json', 'metadata_not_object', 'metadata_too_large', 'metadata_key_too_long'],
    [422, 'metadata_key_invalid', 'invalid_author', 'unsupported_author_type', 'author_not_member'],
    [422, 'validation_error', 'project_not_found', 'idempotency_key_invalid'],
    [429, 'too_many_concurrent_uploads', 'too_many_queued_files', 'upload_quota_exceeded'],
    [429, 'daily_reports_quota_exceeded', 'too_many_queued_reports'],
    [503, 'service_unavailable'],
  ),
  ...at('GET /transcriptions', [422, 'validation_error']),
  ...at('GET /transcriptions/{id}', [404, null], [422, 'validation_error']),
  ...at(
    'PATCH /transcriptions/{id}',
    [403, 'upload_scope_required', 'author_requires_api_key', null],
    [404, null],
    [422, 'invalid_author', 'unsupported_author_type', 'author_not_member', 'validation_error'],
  ),
  ...at('DELETE /transcriptions/{id}', [403, 'delete_scope_required', null], [404, null], [429, 'delete_rate_exceeded']),
  ...at('GET /transcriptions/{id}/export', [404, null], [422, 'validation_error']),
  ...at('GET /transcriptions/{id}/subtitles', [404, null], [409, 'transcription_not_completed'], [422, 'validation_error']),
  ...at('GET /transcriptions/{id}/recording', [404, null], [416, 'range_not_satisfiable']),
  ...at('POST /transcriptions/export', [422, 'validation_error']),
  ...at('GET /prompts', [403, 'reports_scope_required']),
  ...at(
    'POST /transcriptions/{id}/reports',
    [403, 'reports_scope_required'],
    [404, null],
    [409, 'transcription_failed'],
    [422, 'prompt_not_found', 'too_many_reports', 'validation_error'],
    [429, 'report_generation_limit', 'daily_reports_quota_exceeded', 'too_many_queued_reports'],
  ),
  ...at('GET /workspace', [403, null]),
  ...at('GET /workspace/members', [403, 'members_scope_required', 'api_key_required']),
  ...at(
    `PUT ${IDENTITIES}`,
    [403, 'members_scope_required', 'api_key_required'],
    [404, 'member_not_found'],
    [409, 'identity_conflict'],
    [422, 'invalid_identity', 'validation_error'],
  ),
  ...at(
    `DELETE ${IDENTITIES}/{provider}/{external_id}`,
    [403, 'members_scope_required', 'api_key_required'],
    [404, 'member_not_found', 'identity_not_found'],
  ),
];
