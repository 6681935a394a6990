import type { TranscriptionErrorCode } from '../../api/contract/errors.ts';
import { milli } from '../../api/contract/seconds.ts';
import { charge, lockBalance, release, reserve, type Shortfall } from '../minutes/balance.ts';
import { NEXT_CHANGE } from '../postgres/expressions.ts';
import type { Db, Tx } from '../postgres/orm.ts';
import { tellReport } from '../reports/work.ts';
import { keepTerms, type Terms } from '../search/keep.ts';
import { announce } from '../webhooks/outbox.ts';
import { FREE, type Lease } from './leases.ts';
import { enqueueReport } from './queue.ts';

/* SQL: every statement requires the lease, and locks in a fixed order. */

/** Location of a transcription's media, which is removed once its terminal status is committed. */
export interface Media {
  id: string;
  workspaceId: string;
  extension: string;
}

/** A completed transcript, encrypted. */
export interface Finished {
  language: string | null;
  /** Decoded duration, unrounded. */
  durationSeconds: number;
  mediaType: 'audio' | 'video';
  diarized: boolean;
  /** Null: the file name remains the title. */
  titleSealed: Buffer | null;
  summarySealed: Buffer | null;
  /** Absent: no summary, or unknown. */
  summaryWriter?: 'model' | 'extractive';
  topicsSealed: Buffer | null;
  speakersSealed: Buffer | null;
  blocks: { turnsSealed: Buffer; wordsSealed: Buffer }[];
  /** Mean word probability, 0 to 1; null: no words. */
  confidence?: number | null;
  /** For the search; absent: indexed slightly later. */
  terms?: Terms;
}

/** `kept`: completed, and the recording stays in the spool for now. */
export type Settled = 'completed' | 'kept' | 'insufficient_balance' | 'lost';

/**
 * Completes a transcription: transcript, charge, release, start of its reports, notification and webhooks, in one transaction that requires
 * the lease. Audio beyond the reservation is reserved first; if the balance does not cover it, it ends as `insufficient_balance`. The
 * recording is kept for as many days as its workspace wants, at most `keepDays`.
 */
export function complete(db: Db, lease: Lease, result: Finished, keepDays = 0): Promise<Settled> {
  return db.workspace(lease.workspaceId, async (tx) => {
    await lockBalance(tx, lease.workspaceId);
    if (!(await hold(tx, lease))) return 'lost';
    const shortfall = await reserve(tx, lease.workspaceId, lease.id, result.durationSeconds);
    if (shortfall) {
      await refuse(tx, lease, shortfall, result.durationSeconds);
      return 'insufficient_balance';
    }
    await charge(tx, lease.workspaceId, lease.id, result.durationSeconds);
    const kept = await write(tx, lease, result, keepDays);
    if (result.terms) await keepTerms(tx, lease.workspaceId, lease.id, result.terms);
    await tx.rows(
      'insert into notifications (workspace_id, member_id, transcription_id) select workspace_id, author_id, id from transcriptions where workspace_id = ?::uuid and id = ?::uuid',
      [lease.workspaceId, lease.id],
    );
    await tell(tx, lease);
    const waiting = await tx.rows<{ id: string }>(
      `select r.id from reports r where r.workspace_id = ?::uuid and r.transcription_id = ?::uuid and r.status = 'queued'`,
      [lease.workspaceId, lease.id],
    );
    for (const { id } of waiting) await enqueueReport(tx, id);
    return kept ? 'kept' : 'completed';
  });
}

/** Ends a transcription as failed. False: the lease was lost. */
export function fail(db: Db, lease: Lease, code: TranscriptionErrorCode): Promise<boolean> {
  return db.workspace(lease.workspaceId, async (tx) => {
    if (!(await hold(tx, lease, ['queued', 'processing']))) return false; // a probe may fail too
    await failRow(tx, lease, code);
    return true;
  });
}

/** Increases the reservation to the decoded duration before the work is done. Insufficient minutes end the transcription at once. */
export function raise(db: Db, lease: Lease, seconds: number): Promise<'reserved' | 'insufficient_balance' | 'lost'> {
  return db.workspace(lease.workspaceId, async (tx) => {
    await lockBalance(tx, lease.workspaceId);
    if (!(await hold(tx, lease))) return 'lost';
    const shortfall = await reserve(tx, lease.workspaceId, lease.id, seconds);
    if (!shortfall) return 'reserved';
    await refuse(tx, lease, shortfall, seconds);
    return 'insufficient_balance';
  });
}

type Row = Pick<Lease, 'id' | 'workspaceId'>;

/** Ends a locked transcription as failed, regardless of the lease. */
export async function failRow(tx: Tx, row: Row, code: TranscriptionErrorCode): Promise<void> {
  await end(tx, row, `status = 'failed', error_code = ?`, [code]);
}

/** Ends a locked transcription for insufficient minutes and stores both figures. */
export async function refuse(tx: Tx, row: Row, { required, available }: Shortfall, seconds: number): Promise<void> {
  await end(
    tx,
    row,
    `status = 'insufficient_balance', required_minutes = ?::numeric, available_minutes = ?::numeric, duration_seconds = ?`,
    [required, available, milli(seconds)],
  );
  await tx.rows('delete from idempotency_keys k where k.workspace_id = ?::uuid and k.transcription_id = ?::uuid', [
    row.workspaceId,
    row.id,
  ]);
}

/** Records that media was removed from the spool. */
export async function mediaRemoved(tx: Tx, { workspaceId, id }: Row): Promise<void> {
  await tx.rows('update transcriptions set media_key_sealed = null, media_until = null where workspace_id = ?::uuid and id = ?::uuid', [
    workspaceId,
    id,
  ]);
}

/**
 * Locks the row if the lease is valid and the work is in one of these states: minutes are reserved and charged for work with a slot, not
 * for a probe.
 */
async function hold(tx: Tx, lease: Lease, states: readonly string[] = ['processing']): Promise<boolean> {
  const row = await tx.row(
    `select 1 from transcriptions t where t.workspace_id = ?::uuid and t.id = ?::uuid and t.lease_token = ?::uuid
       and t.status = any (?::text[]) for update`,
    [lease.workspaceId, lease.id, lease.token, [...states]],
  );
  return row !== null;
}

async function end(tx: Tx, row: Row, assignments: string, parameters: unknown[]): Promise<void> {
  await release(tx, row.workspaceId, row.id);
  await tx.rows(
    `update transcriptions t set ${assignments}, ${FREE}, started_at = coalesce(started_at, now()), completed_at = clock_timestamp(),
       updated_at = ${NEXT_CHANGE} where workspace_id = ?::uuid and id = ?::uuid`,
    [...parameters, row.workspaceId, row.id],
  );
  await tx.rows('delete from checkpoints c where c.workspace_id = ?::uuid and c.transcription_id = ?::uuid', [row.workspaceId, row.id]);
  const unwritten = await tx.rows<{ id: string }>(
    `update reports set status = 'failed', error_code = 'TRANSCRIPTION_FAILED', completed_at = clock_timestamp(), ${FREE}
     where workspace_id = ?::uuid and transcription_id = ?::uuid and status in ('queued', 'processing') returning id`,
    [row.workspaceId, row.id],
  );
  await tell(tx, row);
  for (const { id } of unwritten) await tellReport(tx, { workspaceId: row.workspaceId, id });
}

/** Writes the transcript. True: the recording is kept. */
async function write(tx: Tx, { workspaceId, id }: Row, result: Finished, keepDays: number): Promise<boolean> {
  await tx.rows('delete from segments s where s.workspace_id = ?::uuid and s.transcription_id = ?::uuid', [workspaceId, id]);
  for (const [block, { turnsSealed, wordsSealed }] of result.blocks.entries()) {
    await tx.rows('insert into segments (transcription_id, workspace_id, block, turns_sealed, words_sealed) values (?, ?, ?, ?, ?)', [
      id,
      workspaceId,
      block,
      turnsSealed,
      wordsSealed,
    ]);
  }
  await tx.rows('delete from checkpoints c where c.workspace_id = ?::uuid and c.transcription_id = ?::uuid', [workspaceId, id]);
  const row = await tx.row<{ kept: boolean }>(
    `update transcriptions t set status = 'completed', language = ?, duration_seconds = ?, media_type = ?, diarized = ?, title_sealed = ?,
       summary_sealed = ?, summary_writer = ?, topics_sealed = ?, speakers_sealed = ?, confidence = ?, stage = 'finishing', fraction = 1, ${FREE}, completed_at = clock_timestamp(),
       updated_at = ${NEXT_CHANGE}, media_until = (select clock_timestamp() + least(w.keep_recordings_days, ?::int) * interval '1 day'
         from workspaces w where w.id = ?::uuid and least(w.keep_recordings_days, ?::int) > 0)
     where workspace_id = ?::uuid and id = ?::uuid returning media_until is not null as kept`,
    [
      result.language,
      milli(result.durationSeconds),
      result.mediaType,
      result.diarized,
      result.titleSealed,
      result.summarySealed,
      result.summaryWriter ?? null,
      result.topicsSealed,
      result.speakersSealed,
      result.confidence ?? null,
      ...[keepDays, workspaceId, keepDays],
      workspaceId,
      id,
    ],
  );
  return row!.kept;
}

/** Queues webhooks for the row's terminal status. */
async function tell(tx: Tx, { workspaceId, id }: Row): Promise<void> {
  const row = await tx.row<{
    status: 'completed' | 'failed' | 'insufficient_balance';
    error_code: string | null;
    external_id: string | null;
  }>('select t.status, t.error_code, t.external_id from transcriptions t where t.workspace_id = ?::uuid and t.id = ?::uuid', [
    workspaceId,
    id,
  ]);
  if (row) await announce(tx, workspaceId, { event: `transcription.${row.status}`, transcription_id: id, ...row });
}
