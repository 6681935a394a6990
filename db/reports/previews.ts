import { type MemberActor, requireFullRights } from '../../api/contract/actor.ts';
import { ApiError, type ReportErrorCode } from '../../api/contract/errors.ts';
import { LIMITS, type Limits } from '../../api/contract/limits.ts';
import type { ReportStatus } from '../../api/contract/transcription.ts';
import { FREE, type Lease, TAKE } from '../jobs/leases.ts';
import { enqueue } from '../jobs/queue.ts';
import type { Db, Tx } from '../postgres/orm.ts';
import type { Vault } from '../secrets/vault.ts';
import { lookupId, visible } from '../tenants/visibility.ts';

/*
 * SQL: claims and leases, as for reports.
 * A preview shows what a template makes of a transcript before the template is published. It does not count against the quotas of reports
 * and appears in no record. Each member has at most one: a new preview replaces it, and the courier that is writing the old one stops. The
 * sweep removes it after ten minutes.
 */

/** A requested preview. */
export interface PreviewRequest {
  /** Slug of a built-in template if `prompt` is null; of the draft otherwise. */
  slug: string;
  name: string;
  prompt: string | null;
  /** Null: a short sample conversation. */
  transcriptionId: string | null;
}

export interface Preview {
  id: string;
  status: ReportStatus;
  error_code: ReportErrorCode | null;
  /** Markdown; null until it is completed. */
  text: string | null;
  /** Writer: the name of the language model, or `built-in`. */
  writer: string | null;
}

/** Queues a preview and returns its id. Null: the actor sees no completed transcription of this id. */
export async function startPreview(tx: Tx, actor: MemberActor, wanted: PreviewRequest, limits: Limits = LIMITS): Promise<string | null> {
  requireFullRights(actor);
  const transcriptionId = wanted.transcriptionId === null ? null : lookupId(wanted.transcriptionId);
  if (transcriptionId !== null) {
    const { sql, parameters } = visible(actor);
    const seen = await tx.row(`select 1 from transcriptions t where t.id = ?::uuid and t.status = 'completed' and ${sql}`, [
      transcriptionId,
      ...parameters,
    ]);
    if (!seen) return null;
  }
  await countPreview(tx, actor.workspaceId, limits);
  const row = await tx.row<{ id: string }>(
    `insert into previews (workspace_id, member_id, transcription_id, slug, name, prompt) values (?, ?, ?, ?, ?, ?)
     on conflict (member_id) do update set id = excluded.id, transcription_id = excluded.transcription_id, slug = excluded.slug,
       name = excluded.name, prompt = excluded.prompt, status = 'queued', error_code = null, writer = '', text_sealed = null, ${FREE},
       attempt = 0, run_after = excluded.run_after, created_at = excluded.created_at
     returning id`,
    [actor.workspaceId, actor.memberId, transcriptionId, wanted.slug, wanted.name, wanted.prompt],
  );
  await enqueue(tx, 'preview', { id: row!.id });
  return row!.id;
}

/** Limits previews per day to the number of reports per day, because they cost as much. Throws `daily_reports_quota_exceeded`. */
async function countPreview(tx: Tx, workspaceId: string, limits: Limits): Promise<void> {
  const row = await tx.row<{ count: number; midnight: number }>(
    `insert into counters (workspace_id, name, day, count) values (?, 'previews', (now() at time zone 'utc')::date, 1)
     on conflict (workspace_id, name, day) do update set count = counters.count + 1
     returning count, ceil(extract(epoch from date_trunc('day', now() at time zone 'utc') + interval '1 day' - now() at time zone 'utc'))::int as midnight`,
    [workspaceId],
  );
  if (row!.count > limits.REPORTS_PER_DAY)
    throw new ApiError('daily_reports_quota_exceeded', { retryAfterSeconds: Math.max(1, row!.midnight) });
}

/** The member's own preview. Null: it was replaced, its transcription was deleted, or it expired. */
export async function readPreview(db: Db, vault: Vault, actor: MemberActor, id: string): Promise<Preview | null> {
  const { workspaceId, memberId } = actor;
  const [row] = await db.query<Omit<Preview, 'text' | 'writer'> & { text_sealed: Buffer | null; writer: string }>(
    workspaceId,
    `select p.id, p.status, p.error_code, p.writer, p.text_sealed from previews p
     where p.workspace_id = ?::uuid and p.member_id = ?::uuid and p.id = ?::uuid`,
    [workspaceId, memberId, lookupId(id)],
  );
  if (!row) return null;
  const { text_sealed, writer, ...preview } = row;
  return { ...preview, writer: writer || null, text: await vault.text(workspaceId, `previews|${row.id}|text`, text_sealed) };
}

/** A claimed preview. */
export interface PreviewClaim extends Omit<PreviewRequest, 'transcriptionId'> {
  lease: Lease;
  transcriptionId: string | null;
}

const ATTEMPTS = 2; // few, because a person is waiting; the second is for a courier that died during the first or was stopped

/** SQL: a preview `q` has no lease, or its lease has expired. */
const ABANDONED = `(q.lease_token is null or q.lease_until < clock_timestamp()
  or q.lease_until is null and not exists (select from leases l where l.token = q.lease_token and l.until >= clock_timestamp()))`;

/** Claims the oldest preview that is waiting or whose courier died. Null: there is none. */
export async function claimPreview(db: Db, engineId: string): Promise<PreviewClaim | null> {
  const row = await db.acrossTenants((tx) =>
    tx.row<{
      id: string;
      workspace_id: string;
      lease_token: string;
      transcription_id: string | null;
      slug: string;
      name: string;
      prompt: string | null;
    }>(
      `update previews p set ${TAKE}, status = 'processing' where p.id = (
         select q.id from previews q where q.status in ('queued', 'processing') and q.attempt < ${ATTEMPTS} and q.run_after <= clock_timestamp()
           and ${ABANDONED}
         order by q.created_at, q.id limit 1 for update skip locked)
       returning p.id, p.workspace_id, p.lease_token, p.transcription_id, p.slug, p.name, p.prompt`,
      [engineId],
    ),
  );
  if (!row) return null;
  const { id, workspace_id: workspaceId, lease_token: token, transcription_id: transcriptionId, slug, name, prompt } = row;
  return { lease: { kind: 'previews', id, workspaceId, token }, transcriptionId, slug, name, prompt };
}

/** Stores the result, encrypted, or the error. False: the lease was lost. */
export async function endPreview(
  db: Db,
  vault: Vault,
  { lease: { workspaceId, id, token } }: PreviewClaim,
  end: { text: string; writer: string } | { code: ReportErrorCode },
): Promise<boolean> {
  const [assignments, values] =
    'code' in end
      ? [`status = 'failed', error_code = ?`, [end.code]]
      : [`status = 'completed', writer = ?, text_sealed = ?`, [end.writer, await vault.seal(workspaceId, `previews|${id}|text`, end.text)]];
  const rows = await db.query(
    workspaceId,
    `update previews set ${assignments}, ${FREE} where workspace_id = ?::uuid and id = ?::uuid and lease_token = ?::uuid returning 1`,
    [...values, workspaceId, id, token],
  );
  return rows.length > 0;
}

/** Removes previews older than ten minutes, and ends those whose attempts all died. */
export async function forgetPreviews(db: Db): Promise<void> {
  await db.query('*', `delete from previews where created_at < clock_timestamp() - interval '10 minutes'`);
  await db.query(
    '*',
    `update previews q set status = 'failed', error_code = 'INTERNAL_ERROR', ${FREE} where status in ('queued', 'processing')
       and attempt >= ${ATTEMPTS} and ${ABANDONED}`,
  );
}
