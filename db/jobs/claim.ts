import { reserve, type Shortfall } from '../minutes/balance.ts';
import type { Db, Tx } from '../postgres/orm.ts';
import { refuse } from './complete.ts';
import { type Lease, TAKE } from './leases.ts';
import { enqueue } from './queue.ts';

/** A transcription that an engine may work on, and what it needs to know for that. */
export interface Claim {
  lease: Lease;
  extension: string;
  mediaKeySealed: Buffer;
  mediaBytes: number;
  /** As probed; null before. */
  durationSeconds: number | null;
  language: string;
  diarize: boolean;
  speakers: number | null;
  aiMetadata: boolean;
  /** Of the workspace. */
  vocabularySealed: Buffer | null;
  /** How often it was taken, this time included. */
  attempt: number;
  /** Seconds it had waited for this since it was uploaded. */
  waitedSeconds: number;
}

interface ClaimRow {
  id: string;
  workspace_id: string;
  lease_token: string;
  extension: string;
  media_key_sealed: Buffer;
  media_bytes: string | null;
  duration_seconds: number | null;
  requested_language: string;
  diarize: boolean;
  speakers_count: number | null;
  ai_metadata: boolean;
  vocabulary_sealed: Buffer | null;
  attempt: number;
  waited: number;
}

const COLUMNS = `id, workspace_id, lease_token, extension, media_key_sealed, media_bytes, duration_seconds, requested_language, diarize, speakers_count,
  ai_metadata, attempt, extract(epoch from clock_timestamp() - created_at)::float8 as waited`;

/**
 * Takes the next transcription to be probed: of the workspace with the fewest that wait probed already, the oldest, so that a large batch does
 * not hold up others. Null: none is due.
 */
export async function claimProbe(db: Db, engineId: string): Promise<Claim | null> {
  const row = await db.acrossTenants((tx) =>
    tx.row<ClaimRow>(
      `update transcriptions t set ${TAKE}, stage = 'probing' where t.id = (
         select q.id from transcriptions q left join lateral (select count(*) as probed from transcriptions w
           where w.workspace_id = q.workspace_id and w.status in ('queued', 'processing') and w.probed_at is not null) w on true
         where q.status in ('queued', 'processing') and q.status = 'queued' and q.probed_at is null and q.lease_token is null
           and q.run_after <= clock_timestamp() and q.media_key_sealed is not null
         order by w.probed, q.created_at limit 1 for update of q skip locked)
       returning ${COLUMNS}, null as vocabulary_sealed`,
      [engineId],
    ),
  );
  return row && toClaim(row);
}

/** Writes what the probe found and lets the transcription wait for a slot. False: the lease was lost. */
export function probed(db: Db, lease: Lease, found: { durationSeconds: number; mediaType: 'audio' | 'video' }): Promise<boolean> {
  return db.workspace(lease.workspaceId, async (tx) => {
    const rows = await tx.rows(
      `update transcriptions set duration_seconds = round(?::numeric, 3), media_type = ?, probed_at = clock_timestamp(), attempt = 0,
         stage = 'waiting', lease_token = null, lease_until = null, engine_id = null, run_after = now(), updated_at = clock_timestamp()
       where workspace_id = ?::uuid and id = ?::uuid and lease_token = ?::uuid and status = 'queued' returning 1`,
      [found.durationSeconds, found.mediaType, lease.workspaceId, lease.id, lease.token],
    );
    if (!rows.length) return false;
    await enqueue(tx, 'dispatch', {});
    return true;
  });
}

/** A transcription that a claim ended at once: its media can go. */
export interface Refused {
  refused: { id: string; workspaceId: string; extension: string };
}

export interface Wish {
  engineId: string;
  /** Only recordings up to this many seconds; null for any. */
  longest: number | null;
}

/**
 * Takes the next transcription: workspaces in turn, each within its concurrency, oldest first. Minutes are reserved in the same transaction;
 * where they do not suffice it ends as `insufficient_balance` instead. Null: nothing waits that may start now.
 */
export async function claimNext(db: Db, wish: Wish): Promise<Claim | Refused | null> {
  const passed: string[] = []; // workspaces whose work others took a moment ago
  for (;;) {
    const outcome = await db.acrossTenants(async (tx) => {
      const workspaceId = await lockNextWorkspace(tx, wish, passed);
      if (!workspaceId) return null;
      const taken = await takeFrom(tx, workspaceId, wish);
      if (!taken) passed.push(workspaceId);
      return taken ?? 'again';
    });
    if (outcome !== 'again') return outcome;
  }
}

/**
 * SQL: may start now. Of `t`, with `running` of its workspace `w` at hand; one parameter, given twice: the longest duration. What was begun
 * before goes on without a new slot.
 */
const READY = `t.lease_token is null and t.run_after <= clock_timestamp() and (?::float8 is null or t.duration_seconds <= ?::float8)
  and (t.status = 'processing' or t.status = 'queued' and t.probed_at is not null and running < w.concurrency)`;

const RUNNING = `(select count(*) from transcriptions r where r.workspace_id = w.id and r.status in ('queued', 'processing') and r.status = 'processing')`;

/** The workspace whose turn it is, locked: the one that was served longest ago of those with something to start. */
async function lockNextWorkspace(tx: Tx, { longest }: Wish, passed: readonly string[]): Promise<string | null> {
  const row = await tx.row<{ id: string }>(
    `select w.id from workspaces w
     where w.id in (select t.workspace_id from transcriptions t where t.status in ('queued', 'processing') and t.lease_token is null)
       and not w.id = any (?::uuid[])
       and exists (select from (select ${RUNNING} as running) n, transcriptions t
         where t.workspace_id = w.id and t.status in ('queued', 'processing') and ${READY})
     order by w.served_at, w.id limit 1 for no key update of w skip locked`,
    [passed, longest, longest],
  );
  return row?.id ?? null;
}

/** Takes the first of a locked workspace's transcriptions. The look is taken anew: what was seen before the lock may be old. */
async function takeFrom(tx: Tx, workspaceId: string, { engineId, longest }: Wish): Promise<Claim | Refused | null> {
  const next = await tx.row<{ id: string; status: string; extension: string; duration_seconds: number }>(
    `select t.id, t.status, t.extension, t.duration_seconds from workspaces w cross join lateral (select ${RUNNING} as running) n
       join transcriptions t on t.workspace_id = w.id and t.status in ('queued', 'processing')
     where w.id = ?::uuid and ${READY}
     order by t.status = 'processing' desc, t.created_at, t.id limit 1 for update of t skip locked`,
    [workspaceId, longest, longest],
  );
  if (!next) return null;
  const shortfall: Shortfall | null = next.status === 'processing' ? null : await reserve(tx, workspaceId, next.id, next.duration_seconds); // what was begun keeps its own
  if (shortfall) {
    await refuse(tx, { workspaceId, id: next.id }, shortfall, next.duration_seconds);
    return { refused: { id: next.id, workspaceId, extension: next.extension } };
  }
  await tx.rows('update workspaces w set served_at = clock_timestamp() where w.id = ?::uuid', [workspaceId]);
  const row = await tx.row<ClaimRow>(
    `update transcriptions t set ${TAKE}, updated_at = case when t.status = 'queued' then clock_timestamp() else t.updated_at end,
       status = 'processing', stage = case when t.status = 'queued' then 'probing' else t.stage end, started_at = coalesce(t.started_at, now())
     where t.workspace_id = ?::uuid and t.id = ?::uuid
     returning ${COLUMNS}, (select w.vocabulary_sealed from workspaces w where w.id = t.workspace_id) as vocabulary_sealed`,
    [engineId, workspaceId, next.id],
  );
  return toClaim(row!);
}

function toClaim(row: ClaimRow): Claim {
  return {
    lease: { kind: 'transcriptions', id: row.id, workspaceId: row.workspace_id, token: row.lease_token },
    extension: row.extension,
    mediaKeySealed: row.media_key_sealed,
    mediaBytes: Number(row.media_bytes ?? 0),
    durationSeconds: row.duration_seconds,
    language: row.requested_language,
    diarize: row.diarize,
    speakers: row.speakers_count,
    aiMetadata: row.ai_metadata,
    vocabularySealed: row.vocabulary_sealed,
    attempt: row.attempt,
    waitedSeconds: row.waited,
  };
}
