import { z } from 'zod';
import { LIMITS } from './limits.ts';

export const STATUSES = ['queued', 'processing', 'completed', 'failed', 'insufficient_balance'] as const;
export type Status = (typeof STATUSES)[number];
export const TERMINAL: ReadonlySet<Status> = new Set(['completed', 'failed', 'insufficient_balance']);

export const REPORT_STATUSES = ['queued', 'processing', 'completed', 'failed'] as const;
export type ReportStatus = (typeof REPORT_STATUSES)[number];

export const STAGES = ['waiting', 'probing', 'transcribing', 'diarizing', 'finishing'] as const;

const Id = z.uuid();
/** UTC, RFC 3339, milliseconds, Z. */
export const Timestamp = z.iso.datetime({ precision: 3 });
/** Seconds with up to 3 decimals. */
const Seconds = z.number();

export const Author = z.object({ id: Id, email: z.string(), name: z.string().nullable() }).meta({ id: 'Author' });
export const ProjectRef = z.object({ id: Id, name: z.string() }).meta({ id: 'ProjectRef' });
export const Speaker = z.object({ id: z.string(), name: z.string() }).meta({ id: 'Speaker' });
export const Topic = z.object({ title: z.string() }).meta({ id: 'Topic' });
const Confidence = z
  .number()
  .min(0)
  .max(1)
  .optional()
  .describe('Estimated probability that the word is correct, 0 to 1; absent if unknown');
export const SpokenWord = z.object({ start: Seconds, end: Seconds, text: z.string(), confidence: Confidence }).meta({ id: 'Word' });

export const Segment = z
  .object({
    id: z.int().describe('Position in the transcript, from 1'),
    start: Seconds.nullable(),
    end: Seconds.nullable(),
    speaker_id: z.string().nullable(),
    speaker_name: z.string().nullable(),
    text: z.string(),
    confidence: Confidence.describe('Mean confidence of its words, 0 to 1. Only with ?words=true'),
    words: z.array(SpokenWord).optional().describe('Only with ?words=true'),
  })
  .meta({ id: 'Segment' });
export type Segment = z.infer<typeof Segment>;

export const ReportResult = z
  .object({
    id: Id,
    slug: z.string().nullable(),
    name: z.string().nullable(),
    status: z.enum(REPORT_STATUSES),
    error_code: z.string().nullable(),
    text: z.string().nullable(),
    created_at: Timestamp,
    completed_at: Timestamp.nullable(),
  })
  .meta({ id: 'ReportResult' });
export type ReportResult = z.infer<typeof ReportResult>;

export const Progress = z.object({ stage: z.enum(STAGES), fraction: z.number().min(0).max(1) }).meta({ id: 'Progress' });

/** Returned as received: the header's JSON text is spliced into responses, so the schema only requires an object. */
export const Metadata = z.record(z.string(), z.unknown());

const shared = {
  id: Id,
  title: z.string().nullable(),
  summary: z.string().nullable(),
  language: z.string().nullable(),
  duration_seconds: Seconds.nullable(),
  media_type: z.enum(['audio', 'video']).nullable(),
  project: ProjectRef.nullable(),
  author: Author,
  speakers: z.array(Speaker),
  topics: z.array(Topic).nullable().describe('Null if not requested with ai_metadata or not generated'),
  external_id: z.string().nullable(),
  metadata: Metadata.nullable(),
  created_at: Timestamp,
  updated_at: Timestamp,
};

/** The full record. Fields are returned in this order. */
export const Transcription = z
  .object({
    id: shared.id,
    title: shared.title,
    status: z.enum(STATUSES),
    summary: shared.summary,
    language: shared.language,
    duration_seconds: shared.duration_seconds,
    media_type: shared.media_type,
    project: shared.project,
    author: shared.author,
    speakers: shared.speakers,
    topics: shared.topics,
    text: z.string().nullable(),
    segments: z.array(Segment),
    prompt_results: z.array(ReportResult),
    external_id: shared.external_id,
    metadata: shared.metadata,
    error_code: z.string().nullable(),
    required_minutes: z.number().nullable(),
    available_minutes: z.number().nullable(),
    created_at: shared.created_at,
    updated_at: shared.updated_at,
    progress: Progress.optional().describe('Only while queued or processing'),
  })
  .meta({ id: 'Transcription' });
export type Transcription = z.infer<typeof Transcription>;

export const SearchHit = z
  .object({
    segment: z.int().describe('Id of the segment'),
    start: Seconds,
    speaker_id: z.string().nullable(),
    text: z.string(),
  })
  .meta({ id: 'SearchHit' });

export const ListItem = z
  .object({
    ...shared,
    hits: z.array(SearchHit).max(LIMITS.SEARCH_HITS).optional().describe('Segments in which the words of `q` were spoken. Only with q'),
  })
  .meta({ id: 'TranscriptionListItem' });
export type ListItem = z.infer<typeof ListItem>;

export const ReportTicket = z.object({ id: Id, slug: z.string(), status: z.enum(REPORT_STATUSES) }).meta({ id: 'ReportTicket' });
export type ReportTicket = z.infer<typeof ReportTicket>;

export const Uploaded = z.object({ uuid: Id, status: z.literal('queued'), reports: z.array(ReportTicket) }).meta({ id: 'Uploaded' });
export type Uploaded = z.infer<typeof Uploaded>;

export const TranscriptionPage = z
  .object({
    items: z.array(ListItem),
    total: z.int(),
    limit: z.int(),
    offset: z.int(),
    next_cursor: z
      .string()
      .optional()
      .describe('`cursor` for the next page; present on the last page too. Only with updated_since or cursor'),
  })
  .meta({ id: 'TranscriptionPage' });

export const SORTS = ['created_at', '-created_at', 'duration', '-duration'] as const;

export const AuthorChange = z.strictObject({ author: z.string().nullable() }).meta({ id: 'AuthorChange' });
export type AuthorChange = z.infer<typeof AuthorChange>;
export const ReportRequest = z.strictObject({ reports: z.array(z.string()).min(1) }).meta({ id: 'ReportRequest' });
export const ReportTickets = z.object({ reports: z.array(ReportTicket) }).meta({ id: 'ReportTickets' });
export const BulkExport = z
  .strictObject({ ids: z.array(z.guid()).min(1).max(100), format: z.enum(['md', 'txt', 'json']).default('md') })
  .meta({ id: 'BulkExport' });
