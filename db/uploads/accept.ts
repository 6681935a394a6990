import type { MemberActor } from '../../api/contract/actor.ts';
import { ApiError } from '../../api/contract/errors.ts';
import { LEASE, type Limits } from '../../api/contract/limits.ts';
import type { ReportTicket } from '../../api/contract/transcription.ts';
import { enqueue } from '../jobs/queue.ts';
import type { Db, Tx } from '../postgres/orm.ts';
import { checkReportQuota, insertReports, lockReports, releaseExpiredSlots, type TemplateRef } from '../reports/request.ts';
import type { Vault } from '../secrets/vault.ts';
import type { AuthorRow } from '../tenants/authors.ts';
import { announce } from '../webhooks/outbox.ts';

/* SQL: quotas, counted under locks, and rows that exist together or not at all. */

/** The validated request of an upload. */
export interface UploadRequest {
  /** Id of the transcription to create. */
  id: string;
  actor: MemberActor;
  author: AuthorRow;
  projectId: string | null;
  filename: string;
  /** Empty until a form names its file. */
  extension: string;
  language: string;
  diarize: boolean;
  speakersCount: number | null;
  aiMetadata: boolean;
  externalId: string | null;
  /** As received. */
  metadata: string | null;
  /** Names and terms of this recording. */
  vocabulary?: string | null;
  templates: readonly TemplateRef[];
}

const BUSY_SECONDS = 5; // an upload in progress may end at any moment
const QUEUE_SECONDS = 30;

/**
 * Takes an upload slot as a lease renewed by `beat`. Uploads of one workspace are counted serially across hosts, and those in progress
 * count as accepted. `latest`: see `ClockWatch`. Throws 402, then 429, in the published order.
 */
export async function takeSlot(tx: Tx, request: UploadRequest, nodeId: string, limits: Limits, latest: number | null): Promise<void> {
  const { workspaceId } = request.actor;
  if (request.templates.length) await lockReports(tx, workspaceId); // in the same order as `accept`
  await lockUploads(tx, workspaceId);
  await releaseExpiredSlots(tx, workspaceId, latest);
  const use = await tx.row<{ solvent: boolean; own: number; inFlight: number; queued: number; today: number; midnight: number }>(
    `select
       (select w.balance_minutes > coalesce((select sum(r.minutes) from reservations r where r.workspace_id = w.id), 0)
        from workspaces w where w.id = ?::uuid) as solvent,
       count(*) filter (where l.key_id = ?::uuid or l.token_id = ?::uuid or l.session_member_id = ?::uuid)::int as own,
       count(*)::int as "inFlight",
       (select count(*) from transcriptions t where t.workspace_id = ?::uuid and t.status = 'queued')::int as queued,
       (select c.count from counters c
        where c.workspace_id = ?::uuid and c.name = 'uploads' and c.day = (clock_timestamp() at time zone 'utc')::date) as today,
       ceil(extract(epoch from date_trunc('day', now() at time zone 'utc') + interval '1 day' - now() at time zone 'utc'))::int as midnight
     from upload_leases l where l.workspace_id = ?::uuid`,
    [workspaceId, ...counted(request.actor), workspaceId, workspaceId, workspaceId],
  );
  if (!use?.solvent) throw new ApiError('insufficient_balance');
  if (use.own >= limits.UPLOADS_PER_KEY || use.inFlight >= limits.UPLOADS_PER_WORKSPACE)
    throw new ApiError('too_many_concurrent_uploads', { retryAfterSeconds: BUSY_SECONDS });
  if (use.queued + use.inFlight >= limits.QUEUED_FILES) throw new ApiError('too_many_queued_files', { retryAfterSeconds: QUEUE_SECONDS });
  if (use.today + use.inFlight >= limits.UPLOADS_PER_DAY)
    throw new ApiError('upload_quota_exceeded', { retryAfterSeconds: Math.max(1, use.midnight) });
  await checkReportQuota(tx, workspaceId, request.templates.length, limits);
  await tx.rows(
    `insert into upload_leases (id, workspace_id, key_id, token_id, session_member_id, node_id, reports, extension, lease_until)
     values (?::uuid, ?::uuid, ?::uuid, ?::uuid, ?::uuid, ?::uuid, ?, ?, clock_timestamp() + ? * interval '1 second')`,
    [request.id, workspaceId, ...counted(request.actor), nodeId, request.templates.length, request.extension || null, LEASE.expirySeconds],
  );
}

/** Uploads in progress are counted per key, token, or signed-in member; exactly one of the three is not null. */
function counted(actor: MemberActor): [keyId: string | null, tokenId: string | null, memberId: string | null] {
  return [
    actor.kind === 'key' ? actor.keyId : null,
    actor.kind === 'token' ? actor.tokenId : null,
    actor.kind === 'session' ? actor.memberId : null,
  ];
}

/** Creates and locks the workspace's daily upload counter. */
async function lockUploads(tx: Tx, workspaceId: string): Promise<void> {
  await tx.rows(
    `insert into counters (workspace_id, name, day, count) values (?::uuid, 'uploads', (clock_timestamp() at time zone 'utc')::date, 0)
     on conflict (workspace_id, name, day) do update set count = counters.count`,
    [workspaceId],
  );
}

/** Notes the name of a form's file, so that it is removed if this process is killed. */
export async function nameSlot(tx: Tx, { id, actor }: UploadRequest, extension: string): Promise<void> {
  await tx.rows('update upload_leases set extension = ? where workspace_id = ?::uuid and id = ?::uuid', [extension, actor.workspaceId, id]);
}

/** Releases the slot. False: it had expired and was reassigned, and the file may have been removed as an orphan. */
export async function releaseSlot(tx: Tx, request: UploadRequest): Promise<boolean> {
  const rows = await tx.rows('delete from upload_leases l where l.workspace_id = ?::uuid and l.id = ?::uuid returning 1', [
    request.actor.workspaceId,
    request.id,
  ]);
  return rows.length > 0;
}

/** Releases the slot after a failure; what may have been left of the file is removed as that of an expired slot. */
export async function giveUpSlot(tx: Tx, request: UploadRequest): Promise<void> {
  await tx.rows(`update upload_leases set lease_until = '-infinity' where workspace_id = ?::uuid and id = ?::uuid`, [
    request.actor.workspaceId,
    request.id,
  ]);
  await releaseSlot(tx, request);
}

/** Renews the slots and idempotency keys of uploads in progress. `ids`: of the transcriptions to create. */
export async function beat(db: Db, nodeId: string, ids: readonly string[]): Promise<void> {
  const parameters = [LEASE.expirySeconds, `{${ids.join(',')}}`, nodeId];
  await db.reserved(async (tx) => {
    await tx.rows(
      `update upload_leases set lease_until = clock_timestamp() + ? * interval '1 second' where id = any(?::uuid[]) and node_id = ?::uuid`,
      parameters,
    );
    await tx.rows(
      `update idempotency_keys set lease_until = clock_timestamp() + ? * interval '1 second'
       where transcription_id = any(?::uuid[]) and node_id = ?::uuid and answer is null`,
      parameters,
    );
  });
}

/**
 * Inserts transcription, reports and job, counts the upload, and releases the slot. Fails if the slot has expired or the workspace was
 * deleted meanwhile.
 */
export async function accept(tx: Tx, vault: Vault, request: UploadRequest, file: { bytes: number; key: Buffer }): Promise<ReportTicket[]> {
  if (!(await releaseSlot(tx, request))) throw new ApiError('service_unavailable', { retryAfterSeconds: BUSY_SECONDS });
  const key = await vault.seal(request.actor.workspaceId, `transcriptions|${request.id}|media_key`, file.key);
  await insert(tx, vault, request, { status: 'queued', bytes: file.bytes, mediaKey: key });
  const reports = await insertReports(tx, { workspaceId: request.actor.workspaceId, transcriptionId: request.id }, request.templates);
  await countUpload(tx, request.actor.workspaceId);
  await enqueue(tx, 'probe', { id: request.id });
  return reports;
}

/** Increments the day's counter, in UTC. */
async function countUpload(tx: Tx, workspaceId: string): Promise<void> {
  await tx.rows(
    `insert into counters (workspace_id, name, day, count) values (?::uuid, 'uploads', (clock_timestamp() at time zone 'utc')::date, 1)
     on conflict (workspace_id, name, day) do update set count = counters.count + 1`,
    [workspaceId],
  );
}

/** Records a body that ended early: failed, never queued, not charged. It counts as an upload of the day, because it leaves a record. */
export async function recordIncomplete(tx: Tx, vault: Vault, request: UploadRequest, bytes: number): Promise<void> {
  await countUpload(tx, request.actor.workspaceId);
  await insert(tx, vault, request, { status: 'failed', bytes, mediaKey: null });
  await announce(tx, request.actor.workspaceId, {
    ...{ event: 'transcription.failed', transcription_id: request.id, status: 'failed', error_code: 'UPLOAD_INCOMPLETE' },
    external_id: request.externalId,
  });
}

async function insert(
  tx: Tx,
  vault: Vault,
  request: UploadRequest,
  file: { status: 'queued' | 'failed'; bytes: number; mediaKey: Buffer | null },
): Promise<void> {
  const { actor } = request;
  const broken = file.status === 'failed';
  await tx.rows(
    `insert into transcriptions (id, workspace_id, project_id, key_id, creator_id, author_id, author_email, author_name, status,
       filename_sealed, extension, size_bytes, requested_language, language, diarize, speakers_count, ai_metadata,
       external_id, metadata_text, metadata, error_code, completed_at, media_key_sealed, media_bytes, vocabulary_sealed)
     values (?::uuid, ?::uuid, ?::uuid, ?::uuid, ?::uuid, ?::uuid, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?::jsonb, ?, case when ? then clock_timestamp() end, ?, ?, ?)`,
    [
      ...[request.id, request.actor.workspaceId, request.projectId, actor.kind === 'key' ? actor.keyId : null, actor.memberId],
      ...[request.author.id, request.author.email, request.author.name, file.status],
      await vault.seal(request.actor.workspaceId, `transcriptions|${request.id}|filename`, request.filename),
      ...[request.extension, file.bytes, request.language, request.language === 'auto' ? null : request.language],
      ...[
        request.diarize,
        request.speakersCount,
        request.aiMetadata,
        request.externalId,
        request.metadata,
        request.metadata && forJsonb(request.metadata),
      ],
      ...[broken ? 'UPLOAD_INCOMPLETE' : null, broken],
      ...[file.mediaKey, file.mediaKey && file.bytes],
      request.vocabulary && (await vault.seal(request.actor.workspaceId, `transcriptions|${request.id}|vocabulary`, request.vocabulary)),
    ],
  );
}

/** Replaces every zero with an exponent by 0: jsonb rejects some exponents even on zero. */
function forJsonb(json: string): string {
  return json.replace(/"(?:[^"\\]|\\.)*"|(?<![\d.])0(?:\.0+)?[eE][+-]?\d+/g, (token) => (token[0] === '"' ? token : '0'));
}

/** Removes what has expired: slots of dead hosts, and idempotency keys after 24 hours. `latest`: see `ClockWatch`. */
export async function sweepUploads(db: Db, latest: number | null): Promise<void> {
  const dead = 'lease_until < least(now(), to_timestamp(?::float8))'; // now() can use an index, unlike clock_timestamp()
  await db.reserved(async (tx) => {
    await tx.rows(`delete from upload_leases where ${dead}`, [latest]);
    await tx.rows(`delete from idempotency_keys where answer is null and ${dead}`, [latest]);
    await tx.rows('delete from idempotency_keys where answer is not null and expires_at < now()');
  });
}
