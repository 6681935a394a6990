/** Limits published to clients. LONGHAND_LIMIT_* can lower those listed below, never raise them. */
export const LIMITS = {
  MIN_FILE_BYTES: 1_024,
  MAX_FILE_BYTES: 2_147_483_648,
  MIN_DURATION_S: 1,
  MAX_DURATION_S: 36_000,
  UPLOAD_STALL_S: 60,
  UPLOAD_TOTAL_S: 5_400,
  UPLOADS_PER_KEY: 10,
  UPLOADS_PER_WORKSPACE: 16,
  QUEUED_FILES: 500,
  UPLOADS_PER_DAY: 20_000,
  IDEMPOTENCY_HOURS: 24,
  IDEMPOTENCY_KEY_CHARACTERS: 255,
  EXTERNAL_ID_CHARACTERS: 128,
  METADATA_BYTES: 4_096,
  METADATA_KEY_CHARACTERS: 64,
  METADATA_DEPTH: 3,
  FILENAME_BYTES: 255,
  SPEAKERS: 20,
  REPORTS_PER_REQUEST: 3,
  REPORTS_PER_DAY: 300,
  REPORTS_WAITING: 200,
  REPORTS_PER_TRANSCRIPTION: 30,
  PAGE: 100,
  PAGE_DEFAULT: 20,
  EXPORT_IDS: 100,
  DELETES_PER_MIN: 30,
  MEMBERS_LISTED: 1_000,
  WEBHOOKS: 50,
  PROVIDER_CHARACTERS: 32,
  IDENTITY_CHARACTERS: 128,
  REQUESTS_PER_MIN: 600,
  REQUEST_BURST: 100,
  JSON_BODY_BYTES: 1_048_576,
  WAIT_S: 60,
  SEARCH_CHARACTERS: 500,
  SEARCH_WORDS: 16,
  SEARCH_HITS: 3,
  VOCABULARY_BYTES: 2_000,
  CORRECTED_SEGMENTS: 200,
  SEGMENT_CHARACTERS: 20_000,
  CORRECTION_CHARACTERS: 100_000,
} as const;

export type Limits = { readonly [K in keyof typeof LIMITS]: number };

/** Limits that the operator may set as LONGHAND_LIMIT_<name>; values above the published limit are refused. */
export const TIGHTENABLE = [
  'UPLOAD_STALL_S',
  'UPLOAD_TOTAL_S',
  'MAX_FILE_BYTES',
  'MAX_DURATION_S',
  'UPLOADS_PER_KEY',
  'UPLOADS_PER_WORKSPACE',
  'QUEUED_FILES',
  'UPLOADS_PER_DAY',
  'REPORTS_PER_DAY',
  'DELETES_PER_MIN',
] as const satisfies readonly (keyof Limits)[];

/** Lifetime of a lease without a heartbeat, and interval of heartbeats. Seconds, by the database's clock. */
export const LEASE = { expirySeconds: 60, heartbeatSeconds: 15, engineDeaths: 3, attempts: 4 } as const;
