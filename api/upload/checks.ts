import { randomUUID } from 'node:crypto';
import { resolveTemplates, type TemplateRef } from '../../db/reports/request.ts';
import { type AuthorRow, findAuthor } from '../../db/tenants/authors.ts';
import { uploadProject } from '../../db/tenants/projects.ts';
import type { UploadRequest } from '../../db/uploads/accept.ts';
import { requireScope } from '../contract/actor.ts';
import { ApiError, invalid } from '../contract/errors.ts';
import { LIMITS, type Limits } from '../contract/limits.ts';
import { type Request, readQuery } from '../http/request.ts';
import type { Context } from '../http/route.ts';
import { readSlugs } from '../v1/slugs.ts';
import { readAuthor } from './author.ts';
import { type FileName, readFileName } from './filename.ts';
import { checkMetadata } from './metadata.ts';
import { PlaceQuery, ReportsQuery, WorkQuery } from './query.ts';
import { looksSecret } from './secret.ts';
import { readVocabulary } from './vocabulary.ts';

const MULTIPART =
  'Cannot accept a multipart form (curl -F): send the raw bytes of the file (curl --data-binary @FILE), with its name in Content-Disposition: attachment; filename="<name>". POST /v1/audio/transcriptions accepts the form';

/** Checks of an upload's headers, in the published order (docs/decisions/api-contract.md). Stores nothing. */
export async function checkHead(context: Context): Promise<UploadRequest> {
  const { request, caller, limits } = context;
  const announced = announcedBytes(request);
  const file = fileName(request);
  checkSize(announced, limits);
  requireWhole(request, announced);
  const place = readQuery(request.parameters, PlaceQuery);
  const projectId = place.project_id === undefined ? null : await project(context, place.project_id);
  const work = readQuery(request.parameters, WorkQuery);
  const externalId = readExternalId(request);
  const metadata = readMetadata(request);
  const vocabulary = readVocabulary(request);
  const author = await owner(context);
  const templates = await reports(context);
  return {
    id: randomUUID(),
    actor: caller,
    author,
    projectId,
    filename: file.name,
    extension: file.extension,
    language: place.language,
    diarize: work.diarize,
    speakersCount: work.speakers_count ?? null,
    aiMetadata: work.ai_metadata,
    externalId,
    metadata,
    vocabulary,
    templates,
  };
}

/** The Content-Length. Throws `length_required` if it is missing or repeated, or if the body is chunked. */
function announcedBytes(request: Request): number {
  const length = request.headers.get('content-length');
  if (length === undefined || request.headers.has('transfer-encoding')) throw new ApiError('length_required');
  if (!/^\d+$/.test(length)) {
    throw new ApiError('length_required', {
      message: 'Cannot accept the file: Content-Length must be sent once, as a whole number of bytes',
    });
  }
  return Number(length);
}

function fileName(request: Request): FileName {
  const disposition = request.headers.get('content-disposition');
  const multipart = /^multipart\//i.test(request.headers.get('content-type') ?? '');
  if (disposition === undefined || request.repeated.has('content-disposition'))
    throw new ApiError('filename_required', { message: multipart ? MULTIPART : undefined });
  if (multipart) {
    readFileNameOrPass(disposition);
    throw new ApiError('unsupported_file_format', { message: MULTIPART });
  }
  return readFileName(disposition);
}

/** A missing name is reported before an unsupported format. */
function readFileNameOrPass(disposition: string): void {
  try {
    readFileName(disposition);
  } catch (error) {
    if (error instanceof ApiError && error.code === 'filename_required') throw error;
  }
}

/** Throws `file_too_small` or `file_size_limit_exceeded`. Applied to the declared size and again to the bytes received. */
export function checkSize(bytes: number, limits: Limits): void {
  if (bytes < limits.MIN_FILE_BYTES) throw new ApiError('file_too_small');
  if (bytes > limits.MAX_FILE_BYTES) {
    throw new ApiError('file_size_limit_exceeded', {
      message: `Cannot accept the file: it has ${bytes} bytes; the maximum is ${limits.MAX_FILE_BYTES}`,
    });
  }
}

const COMPRESSED = /\b(gzip|deflate|compress|br|zstd)\b/i;

/** Throws `validation_error` for one of the parts of a file, and for a compressed body: either would be taken for the file itself. */
function requireWhole({ headers }: Request, bytes: number): void {
  const [range, coding] = [headers.get('content-range'), headers.get('content-encoding')];
  const errors = [
    ...(range === undefined || range === `bytes 0-${bytes - 1}/${bytes}`
      ? []
      : [{ field: 'Content-Range', message: `found ${range}: parts of a file cannot be joined; send the whole file in one request` }]),
    ...(coding !== undefined && COMPRESSED.test(coding)
      ? [{ field: 'Content-Encoding', message: `found ${coding}: send the bytes of the file as they are` }]
      : []),
  ];
  if (errors.length) throw invalid(errors);
}

async function project({ db, caller }: Context, id: string): Promise<string> {
  const found = await db.workspace(caller.workspaceId, (tx) => uploadProject(tx, caller, id));
  if (!found) throw new ApiError('project_not_found');
  return found.id;
}

function readExternalId(request: Request): string | null {
  const value = request.headers.get('x-external-id');
  if (value === undefined) return null;
  if (value.length > LIMITS.EXTERNAL_ID_CHARACTERS) throw new ApiError('external_id_too_long');
  if (!/^[\x20-\x7E]+$/.test(value) || request.repeated.has('x-external-id') || looksSecret(value))
    throw new ApiError('external_id_invalid');
  return value;
}

function readMetadata(request: Request): string | null {
  const value = request.headers.get('x-metadata');
  if (request.repeated.has('x-metadata')) throw new ApiError('metadata_invalid_json', { message: 'X-Metadata must be sent once' });
  return value === undefined ? null : checkMetadata(value);
}

/** The member named in X-Author, else the creator of the key. */
async function owner({ db, request, caller }: Context): Promise<AuthorRow> {
  const header = request.headers.get('x-author');
  if (header === undefined) return { id: caller.memberId, email: caller.memberEmail, name: caller.memberName };
  if (request.repeated.has('x-author')) throw new ApiError('invalid_author');
  const ref = readAuthor(header);
  const author = await db.workspace(caller.workspaceId, (tx) => findAuthor(tx, caller, ref));
  if (!author) throw new ApiError('author_not_member');
  return author;
}

/**
 * The templates named in `reports`; an empty list is the same as none. Throws `too_many_reports`, then `prompt_not_found` with
 * `detail.slug`.
 */
async function reports({ db, request, caller }: Context): Promise<TemplateRef[]> {
  const lists = request.parameters.get('reports') ?? [];
  if (lists.length < 2 && !/[^\s,]/.test(lists.join())) return [];
  requireScope(caller, 'reports:write', 'reports_scope_required');
  const { reports: list } = readQuery(request.parameters, ReportsQuery); // rejects repetitions
  const slugs = readSlugs(list!);
  const { templates, missing } = await db.workspace(caller.workspaceId, (tx) => resolveTemplates(tx, caller, slugs));
  if (missing !== null) throw new ApiError('prompt_not_found', { detail: { slug: missing } });
  return templates;
}

const KEY = new RegExp(`^[\\x20-\\x7E]{1,${LIMITS.IDEMPOTENCY_KEY_CHARACTERS}}$`);

/** The Idempotency-Key, or null. Throws `idempotency_key_invalid`. */
export function readIdempotencyKey(request: Request): string | null {
  const key = request.headers.get('idempotency-key');
  if (key === undefined) return null;
  if (!KEY.test(key) || request.repeated.has('idempotency-key')) throw new ApiError('idempotency_key_invalid');
  return key;
}
