import { LIMITS } from '../contract/limits.ts';
import { Uploaded } from '../contract/transcription.ts';
import { type Route, route } from '../http/route.ts';
import { UploadQuery } from '../upload/query.ts';
import { upload } from '../upload/upload.ts';

const EXAMPLE = {
  uuid: '7f2c1c9e-5d0b-4f1e-9a53-0d6f1b2c3d4e',
  status: 'queued',
  reports: [{ id: '0b9a8c7d-6e5f-4a3b-8c1d-2e3f4a5b6c7d', slug: 'summary', status: 'queued' }],
};

export const uploadRoute: Route = route({
  method: 'POST',
  path: '/v1/transcriptions',
  id: 'uploadTranscription',
  summary: 'Upload a file',
  description:
    'The body is the raw bytes of one audio or video file. Every check runs before the body is read; an early response has `Connection: close`. Poll `GET /transcriptions/{id}` for the result.',
  tag: 'Transcriptions',
  access: { scope: 'uploads:write', scopeError: 'upload_scope_required' },
  query: UploadQuery,
  upload: {
    minBytes: LIMITS.MIN_FILE_BYTES,
    headers: {
      'Content-Disposition': {
        description: 'Name of the file; its extension must be one of the supported formats. Send non-ASCII names as `filename*`.',
        required: true,
        example: 'attachment; filename="call.mp3"',
      },
      'Idempotency-Key': {
        description:
          '1 to 255 printable ASCII characters, unique per file. A repeated upload with the same key returns the original response with status 200.',
        required: false,
        example: '1f0c6d4e-1c55-4c0e-9f0a-5b8e7a9d2c11',
        schema: { pattern: '^[ -~]{1,255}$' },
      },
      'X-External-Id': {
        description: 'Your own id: 1 to 128 printable ASCII characters; need not be unique.',
        required: false,
        example: 'deal-4711',
        schema: { pattern: '^[ -~]{1,128}$' },
      },
      'X-Metadata': {
        description: 'A JSON object of at most 4096 bytes and 3 levels. Returned unchanged.',
        required: false,
        example: '{"deal_id":4711,"direction":"inbound"}',
        schema: { maxLength: LIMITS.METADATA_BYTES },
      },
      'X-Vocabulary': {
        description:
          "Comma-separated names and terms that occur in this recording, added to the vocabulary of the workspace. At most 2000 bytes: ASCII, or `UTF-8''` and percent-encoded text (RFC 8187).",
        required: false,
        example: 'Okonkwo, Kestrel 9, churn rate',
        schema: { maxLength: LIMITS.VOCABULARY_BYTES },
      },
      'X-Author': {
        description: '`email:<email>`, `user:<uuid>` or `external:<provider>:<id>`: the member who owns the transcription.',
        required: false,
        example: 'email:anna@example.com',
        schema: { pattern: '^(email|user|external):.+$' },
      },
    },
  },
  answers: {
    201: { description: 'Accepted', schema: Uploaded, example: EXAMPLE },
    200: {
      description: 'The Idempotency-Key was used before: the original response',
      schema: Uploaded,
      example: EXAMPLE,
      headers: { 'Idempotency-Replayed': 'true' },
    },
  },
  errors: [
    'upload_scope_required',
    'length_required',
    'filename_required',
    'unsupported_file_format',
    'file_too_small',
    'file_size_limit_exceeded',
    'validation_error',
    'project_not_found',
    'external_id_invalid',
    'external_id_too_long',
    'metadata_invalid_json',
    'metadata_not_object',
    'metadata_too_large',
    'metadata_key_too_long',
    'metadata_key_invalid',
    'metadata_too_deep',
    'metadata_value_invalid',
    'invalid_author',
    'unsupported_author_type',
    'author_not_member',
    'reports_scope_required',
    'too_many_reports',
    'prompt_not_found',
    'idempotency_key_invalid',
    'idempotency_conflict',
    'insufficient_balance',
    'too_many_concurrent_uploads',
    'too_many_queued_files',
    'upload_quota_exceeded',
    'daily_reports_quota_exceeded',
    'too_many_queued_reports',
    'upload_timeout',
  ],
  handler: upload,
});
