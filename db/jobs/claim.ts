import { reserve, type Shortfall } from '../minutes/balance.ts';
import { NEXT_CHANGE } from '../postgres/expressions.ts';
import type { Db, Tx } from '../postgres/orm.ts';
import { refuse } from './complete.ts';
import { type Lease, TAKE } from './leases.ts';
import { delay, postpone, UNPROBED } from './postpone.ts';
import { enqueue } from './queue.ts';

/** A claimed transcription, with what an engine needs to know to work on it. */
export interface ClaimedTranscription {
  lease: Lease;
  extension: string;
  filenameSealed: Buffer;
  mediaKeySealed: Buffer;
  mediaBytes: number;
  /** As probed; null before. */
  durationSeconds: number | null;
  language: string;
  diarize: boolean;
  speakers: number | null;
  aiMetadata: boolean;
  /** Vocabulary of this recording, and of the workspace. */
  ownVocabularySealed: Buffer | null;
  vocabularySealed: Buffer | null;
  /** Number of attempts, including this one. */
  attempt: number;
  /** Seconds since a host was first unable to do this work; 0: none was. */
  hinderedSeconds: number;
}

interface ClaimedRow {
  id: string;
  workspace_id: string;
  lease_token: string;
  extension: string;
  filename_sealed: Buffer;
  media_key_sealed: Buffer;
  media_bytes: string | null;
  duration_seconds: number | null;
  requested_language: string;
  diarize: boolean;
  speakers_count: number | null;
  ai_metadata: boolean;
  own_vocabulary_sealed: Buffer | null;
  vocabulary_sealed: Buffer | null;
  attempt: number;
  hindered: number;
}

const COLUMNS = `id, workspace_id, lease_token, extension, filename_sealed, vocabulary_sealed as own_vocabulary_sealed, media_key_sealed, media_bytes, duration_seconds, requested_language, diarize, speakers_count,
  ai_metadata, attempt, coalesce(extract(epoch from clock_timestamp() - host_fault_at), 0)::float8 as hindered`;

/**
 * Claims the next transcription to probe: the oldest one of the least recently served workspace, so that a large batch does not delay
 * others. SQL, like everything here: each step reads the first row of an index, however long the queue is. Null: none is due.
 */
export async function claimProbe(db: Db, engineId: string): Promise<ClaimedTranscription | null> {
  for (const passed: string[] = []; ; ) {
    const outcome = await db.acrossTenants(async (tx) => {
      const turn = await tx.row<{ workspace_id: string }>(
        `select q.workspace_id from turns q where q.lane = 'probe' and q.due_at <= clock_timestamp() and not q.workspace_id = any (?::uuid[])
         order by q.served_at, q.workspace_id limit 1 for update of q skip locked`,
        [passed],
      );
      if (!turn) return null;
      const workspaceId = turn.workspace_id;
      const row = await tx.row<ClaimedRow>(
        `update transcriptions t set ${TAKE}, stage = 'probing' where t.id = (
           select q.id from transcriptions q where q.workspace_id = ?::uuid and ${UNPROBED} and q.run_after <= clock_timestamp()
             and q.media_key_sealed is not null
           order by q.created_at, q.id limit 1 for update of q skip locked)
         returning ${COLUMNS}, null as vocabulary_sealed`,
        [engineId, workspaceId],
      );
      if (row)
        await tx.rows(`update turns set served_at = clock_timestamp() where workspace_id = ?::uuid and lane = 'probe'`, [workspaceId]);
      else await postpone(tx, workspaceId, ['probe'], UNPROBED);
      passed.push(workspaceId);
      return row ? toClaim(row) : 'again';
    });
    if (outcome !== 'again') return outcome;
  }
}

/** Stores the result of the probe and queues the transcription for a slot. False: the lease was lost. */
export function probed(db: Db, lease: Lease, found: { durationSeconds: number; mediaType: 'audio' | 'video' }): Promise<boolean> {
  return db.workspace(lease.workspaceId, async (tx) => {
    const rows = await tx.rows(
      `update transcriptions t set duration_seconds = round(?::numeric, 3), media_type = ?, probed_at = clock_timestamp(), attempt = 0, host_fault_at = null,
         stage = 'waiting', lease_token = null, lease_until = null, engine_id = null, run_after = now(), updated_at = ${NEXT_CHANGE}
       where workspace_id = ?::uuid and id = ?::uuid and lease_token = ?::uuid and status = 'queued' returning 1`,
      [found.durationSeconds, found.mediaType, lease.workspaceId, lease.id, lease.token],
    );
    if (!rows.length) return false;
    await enqueue(tx, 'dispatch', { id: lease.id });
    return true;
  });
}

/** A transcription that a claim ended immediately: its media can be removed. */
export interface RefusedTranscription {
  refused: { id: string; workspaceId: string; extension: string };
}

export interface ClaimOptions {
  engineId: string;
  /** Only recordings up to SHORT_SECONDS. */
  shortOnly: boolean;
}

/** Maximum length of a short recording: one slot of every engine is reserved for those. Indexes and the trigger `note_turn` have it too. */
export const SHORT_SECONDS = 120;

/** SQL, identical to the conditions of the indexes that serve it. */
const PROBED = `t.status = 'queued' and t.probed_at is not null and t.lease_token is null`;
const SHORT_ONLY = `and t.duration_seconds <= ${SHORT_SECONDS}`;

/**
 * Claims the next transcription: workspaces round-robin, each within its concurrency, oldest first. Reserves minutes in the same
 * transaction; if they do not suffice it ends as `insufficient_balance` instead. Null: nothing can start now.
 */
export async function claimNext(db: Db, options: ClaimOptions): Promise<ClaimedTranscription | RefusedTranscription | null> {
  for (const passed: string[] = []; ; ) {
    const outcome = await db.acrossTenants(async (tx) => {
      const workspaceId = await lockNextWorkspace(tx, options, passed);
      if (!workspaceId) return null;
      const taken = await takeFrom(tx, workspaceId, options);
      if (!taken) passed.push(workspaceId);
      return taken ?? 'again';
    });
    if (outcome !== 'again') return outcome;
  }
}

/**
 * Locks the next workspace: the least recently served one with something to start. Locks its row before its turn, in the same order as
 * completions.
 */
async function lockNextWorkspace(tx: Tx, { shortOnly }: ClaimOptions, passed: readonly string[]): Promise<string | null> {
  const row = await tx.row<{ id: string }>(
    `select w.id from turns q join workspaces w on w.id = q.workspace_id and w.deleted_at is null
     where q.lane <> 'probe' and not q.busy and q.lane = any (?::text[]) and q.due_at <= clock_timestamp() and not q.workspace_id = any (?::uuid[])
     order by q.served_at, q.workspace_id limit 1 for no key update of w skip locked`,
    [lanes(shortOnly), passed],
  );
  return row?.id ?? null;
}

function lanes(shortOnly: boolean): string[] {
  return shortOnly ? ['short'] : ['short', 'long'];
}

interface Waiting {
  id: string;
  status: string;
  extension: string;
  duration_seconds: number;
}

/** Claims the first of a locked workspace's transcriptions. Queries again, because results from before the lock may be outdated. */
async function takeFrom(
  tx: Tx,
  workspaceId: string,
  { engineId, shortOnly }: ClaimOptions,
): Promise<ClaimedTranscription | RefusedTranscription | null> {
  await tx.rows(`select 1 from turns q where q.workspace_id = ?::uuid and q.lane <> 'probe' order by q.lane for update`, [workspaceId]);
  const next = (await resumable(tx, workspaceId, shortOnly)) ?? (await startable(tx, workspaceId, shortOnly));
  if (!next) return null;
  const shortfall: Shortfall | null = next.status === 'processing' ? null : await reserve(tx, workspaceId, next.id, next.duration_seconds); // resumed work keeps its reservation
  if (shortfall) {
    await refuse(tx, { workspaceId, id: next.id }, shortfall, next.duration_seconds);
    return { refused: { id: next.id, workspaceId, extension: next.extension } };
  }
  await tx.rows('update workspaces w set served_at = clock_timestamp() where w.id = ?::uuid', [workspaceId]);
  await tx.rows(`update turns set served_at = clock_timestamp() where workspace_id = ?::uuid and lane <> 'probe'`, [workspaceId]);
  const row = await tx.row<ClaimedRow>(
    `update transcriptions t set ${TAKE}, updated_at = case when t.status = 'queued' then ${NEXT_CHANGE} else t.updated_at end,
       status = 'processing', stage = case when t.status = 'queued' then 'probing' else t.stage end, started_at = coalesce(t.started_at, now())
     where t.workspace_id = ?::uuid and t.id = ?::uuid
     returning ${COLUMNS}, (select w.vocabulary_sealed from workspaces w where w.id = t.workspace_id) as vocabulary_sealed`,
    [engineId, workspaceId, next.id],
  );
  return toClaim(row!);
}

const FIRST = `select t.id, t.status, t.extension, t.duration_seconds from transcriptions t where t.workspace_id = ?::uuid`;
const ORDER = 'order by t.created_at, t.id limit 1 for update of t skip locked';

/** Interrupted work resumes without a new slot. */
function resumable(tx: Tx, workspaceId: string, shortOnly: boolean): Promise<Waiting | null> {
  return tx.row<Waiting>(
    `${FIRST} and t.status = 'processing' and t.lease_token is null and t.run_after <= clock_timestamp() ${shortOnly ? SHORT_ONLY : ''} ${ORDER}`,
    [workspaceId],
  );
}

/** SQL: work of an engine that stopped. It keeps its slot, and resumes at `run_after`. */
const INTERRUPTED = `t.status = 'processing' and t.lease_token is null`;

/**
 * The oldest probed transcription, if the workspace has a free slot; otherwise the workspace loses its turn until it has one, or until
 * interrupted work is due.
 */
async function startable(tx: Tx, workspaceId: string, shortOnly: boolean): Promise<Waiting | null> {
  const slots = await tx.row<{ free: boolean }>(
    `select w.concurrency > (select count(*) from transcriptions r where r.workspace_id = w.id and r.status = 'processing') as free
     from workspaces w where w.id = ?::uuid`,
    [workspaceId],
  );
  if (!slots?.free) {
    if (!(await delay(tx, workspaceId, lanes(false), INTERRUPTED)))
      await tx.rows(`update turns set busy = true where workspace_id = ?::uuid and lane <> 'probe'`, [workspaceId]);
    return null;
  }
  const ready = `${PROBED} ${shortOnly ? SHORT_ONLY : ''}`;
  const next = await tx.row<Waiting>(`${FIRST} and ${ready} and t.run_after <= clock_timestamp() ${ORDER}`, [workspaceId]);
  if (!next) await postpone(tx, workspaceId, lanes(shortOnly), `(${ready} or ${INTERRUPTED})`);
  return next;
}

function toClaim(row: ClaimedRow): ClaimedTranscription {
  return {
    lease: { kind: 'transcriptions', id: row.id, workspaceId: row.workspace_id, token: row.lease_token },
    ...{ extension: row.extension, filenameSealed: row.filename_sealed, mediaKeySealed: row.media_key_sealed },
    mediaBytes: Number(row.media_bytes ?? 0),
    durationSeconds: row.duration_seconds,
    language: row.requested_language,
    diarize: row.diarize,
    speakers: row.speakers_count,
    aiMetadata: row.ai_metadata,
    ownVocabularySealed: row.own_vocabulary_sealed,
    vocabularySealed: row.vocabulary_sealed,
    attempt: row.attempt,
    hinderedSeconds: row.hindered,
  };
}
