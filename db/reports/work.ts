import { builtin } from '../../api/contract/catalogue.ts';
import type { ReportErrorCode } from '../../api/contract/errors.ts';
import { FREE, type Lease, TAKE } from '../jobs/leases.ts';
import { NEXT_CHANGE } from '../postgres/expressions.ts';
import type { Db, Tx } from '../postgres/orm.ts';
import type { Vault } from '../secrets/vault.ts';
import { announce } from '../webhooks/outbox.ts';

/* SQL: claims and leases. */

/** A claimed report. */
export interface ReportClaim {
  lease: Lease;
  transcriptionId: string;
  slug: string;
  name: string;
  /** Prompt of a custom template; null for a built-in one. */
  prompt: string | null;
  /** The custom template was deleted. */
  templateMissing: boolean;
  attempt: number;
}

/** Input of a report. */
export interface ReportSource {
  language: string | null;
  durationSeconds: number;
  turns: { id: number; start: number; end: number; speaker: string; text: string }[];
}

interface ClaimRow {
  id: string;
  workspace_id: string;
  lease_token: string;
  transcription_id: string;
  slug: string;
  name: string;
  prompt: string | null;
  attempt: number;
}

/**
 * Claims the next report of a completed transcription: the oldest one of the least recently served workspace. Each step reads the first
 * rows of an index, however many reports are waiting. Null: none is due.
 */
export async function claimReport(db: Db, engineId: string): Promise<ReportClaim | null> {
  for (const passed: string[] = []; ; ) {
    const outcome = await db.acrossTenants(async (tx) => {
      const turn = await tx.row<{ workspace_id: string }>(
        `select q.workspace_id from report_turns q where q.due_at < 'infinity' and q.due_at <= clock_timestamp() and not q.workspace_id = any (?::uuid[])
         order by q.served_at, q.workspace_id limit 1 for update of q skip locked`,
        [passed],
      );
      if (!turn) return null;
      const { workspace_id: workspaceId } = turn;
      passed.push(workspaceId);
      const taken = await takeFrom(tx, workspaceId, engineId);
      if (taken) await tx.rows('update report_turns set served_at = clock_timestamp() where workspace_id = ?::uuid', [workspaceId]);
      else await postpone(tx, workspaceId);
      return taken ?? 'again';
    });
    if (outcome !== 'again') return outcome && toClaim(outcome);
  }
}

/** SQL: a report `q` without a lease, of a completed transcription of the workspace (one parameter). */
const READY = `reports q join transcriptions t on t.id = q.transcription_id and t.workspace_id = q.workspace_id and t.status = 'completed'
  where q.workspace_id = ?::uuid and q.status in ('queued', 'processing') and q.lease_token is null`;

function takeFrom(tx: Tx, workspaceId: string, engineId: string): Promise<ClaimRow | null> {
  return tx.row<ClaimRow>(
    `update reports r set ${TAKE}, status = 'processing' where r.id = (
       select q.id from ${READY} and q.run_after <= clock_timestamp() order by q.created_at, q.id limit 1 for update of q skip locked)
     returning r.id, r.workspace_id, r.lease_token, r.transcription_id, r.slug, r.name, r.attempt,
       (select p.prompt from templates p where p.id = r.template_id and p.workspace_id = r.workspace_id) as prompt`,
    [engineId, workspaceId],
  );
}

/** Sets the turn of a workspace to the time when its next report is due. Reports locked by others keep the turn. */
async function postpone(tx: Tx, workspaceId: string): Promise<void> {
  await tx.rows(
    `update report_turns set due_at = coalesce((select min(q.run_after) from ${READY}), 'infinity') where workspace_id = ?::uuid`,
    [workspaceId, workspaceId],
  );
}

function toClaim(row: ClaimRow): ReportClaim {
  return {
    lease: { kind: 'reports', id: row.id, workspaceId: row.workspace_id, token: row.lease_token },
    transcriptionId: row.transcription_id,
    slug: row.slug,
    name: row.name,
    prompt: row.prompt,
    templateMissing: row.prompt === null && !builtin(row.slug),
    attempt: row.attempt,
  };
}

/** Decrypts the transcript of a report. Null: the transcription was deleted. */
export async function loadSource(
  db: Db,
  vault: Vault,
  { lease, transcriptionId: id }: Pick<ReportClaim, 'lease' | 'transcriptionId'>,
): Promise<ReportSource | null> {
  const { workspaceId } = lease;
  const rows = await db.query<{
    language: string | null;
    duration_seconds: number;
    speakers_sealed: Buffer | null;
    block: number | null;
    turns_sealed: Buffer | null;
  }>(
    workspaceId,
    `select t.language, t.duration_seconds, t.speakers_sealed, s.block, s.turns_sealed from transcriptions t
     left join segments s on s.workspace_id = t.workspace_id and s.transcription_id = t.id
     where t.workspace_id = ?::uuid and t.id = ?::uuid order by s.block`,
    [workspaceId, id],
  );
  const [first] = rows;
  if (!first) return null;
  const labels = await speakerLabels(vault, workspaceId, id, first.speakers_sealed);
  const blocks = await Promise.all(
    rows.map(({ block, turns_sealed }) => vault.text(workspaceId, `segments|${id}:${block}|turns`, turns_sealed)),
  );
  const turns = blocks.flatMap((text) =>
    text ? (JSON.parse(text) as { id: number; start: number; end: number; speaker: string | null; text: string }[]) : [],
  );
  return {
    language: first.language,
    durationSeconds: first.duration_seconds,
    turns: turns.map((turn) => ({ ...turn, speaker: labels.get(turn.speaker ?? '') ?? 'Speaker 1' })),
  };
}

/** Display name of each speaker: a name, else `Speaker 1`, `Speaker 2` in order of first appearance. */
async function speakerLabels(vault: Vault, workspaceId: string, id: string, sealed: Buffer | null): Promise<Map<string, string>> {
  const text = await vault.text(workspaceId, `transcriptions|${id}|speakers`, sealed);
  const speakers = text ? (JSON.parse(text) as { id: string; ai_name: string | null; name: string | null }[]) : [];
  return new Map(speakers.map((speaker, index) => [speaker.id, speaker.name ?? speaker.ai_name ?? `Speaker ${index + 1}`]));
}

/** Stores a finished report, encrypted. False: the lease was lost. */
export async function completeReport(
  db: Db,
  vault: Vault,
  claim: ReportClaim,
  text: string,
  writer: 'model' | 'extractive' | null = null, // null: unknown
): Promise<boolean> {
  const { workspaceId, id } = claim.lease;
  const sealed = await vault.seal(workspaceId, `reports|${id}|text`, text);
  return endReport(db, claim, `status = 'completed', text_sealed = ?, writer = ?`, [sealed, writer]);
}

/** Ends a report as failed. False: the lease was lost. */
export function failReport(db: Db, claim: ReportClaim, code: ReportErrorCode): Promise<boolean> {
  return endReport(db, claim, `status = 'failed', error_code = ?`, [code]);
}

function endReport(db: Db, claim: ReportClaim, assignments: string, parameters: unknown[]): Promise<boolean> {
  const { workspaceId, id, token } = claim.lease;
  return db.workspace(workspaceId, async (tx) => {
    await tx.rows('select 1 from transcriptions t where t.workspace_id = ?::uuid and t.id = ?::uuid for no key update', [
      workspaceId,
      claim.transcriptionId, // locked before its report, in the same order as a deletion
    ]);
    const row = await tx.row(
      `update reports set ${assignments}, ${FREE}, completed_at = clock_timestamp()
       where workspace_id = ?::uuid and id = ?::uuid and lease_token = ?::uuid and status = 'processing' returning 1`,
      [...parameters, workspaceId, id, token],
    );
    if (!row) return false;
    await tellReport(tx, { workspaceId, id });
    return true;
  });
}

/** Ends a report whose couriers died, regardless of the lease. It and its transcription must be locked. */
export async function failReportRow(tx: Tx, row: { workspaceId: string; id: string }, code: ReportErrorCode): Promise<void> {
  await tx.rows(
    `update reports set status = 'failed', error_code = ?, ${FREE}, completed_at = clock_timestamp() where workspace_id = ?::uuid and id = ?::uuid`,
    [code, row.workspaceId, row.id],
  );
  await tellReport(tx, row);
}

/** Records the end of a report on its transcription and queues webhooks. A failed report restores the one that it replaced. */
export async function tellReport(tx: Tx, { workspaceId, id }: { workspaceId: string; id: string }): Promise<void> {
  const row = await tx.row<{
    status: 'completed' | 'failed';
    error_code: string | null;
    transcription_id: string;
    external_id: string | null;
  }>(
    `update transcriptions t set updated_at = ${NEXT_CHANGE} from reports r
     where t.workspace_id = ?::uuid and r.id = ?::uuid and r.workspace_id = t.workspace_id and t.id = r.transcription_id
     returning r.status, r.error_code, r.transcription_id, t.external_id`,
    [workspaceId, id],
  );
  if (row?.status === 'failed')
    await tx.rows('update reports set replaced_by = null where workspace_id = ?::uuid and replaced_by = ?::uuid', [workspaceId, id]);
  if (row) await announce(tx, workspaceId, { event: `report.${row.status}`, report_id: id, ...row });
}
