import { LEASE } from '../../api/contract/limits.ts';
import type { Tx } from '../postgres/orm.ts';
import { enqueue, enqueueReport } from './queue.ts';

/* SQL: many leases in one statement, which must not wait for a lock. A token in the row of a transcription, report or preview determines
   who works on it and fences every write. The table `leases` determines, by the database's clock, when the holder of a token counts as
   dead. The queue's own locks do not matter. */

/** The right to work on one row. */
export interface Lease {
  kind: 'transcriptions' | 'reports' | 'previews';
  id: string;
  workspaceId: string;
  token: string;
}

/** A lease with its holder's progress. */
export interface Heartbeat {
  lease: Lease;
  stage?: string;
  /** Of the whole work, 0 to 1. */
  fraction?: number;
}

/**
 * SQL: takes the lease of a row for an engine (one parameter, its id). A trigger creates its row in `leases`, which heartbeats update
 * instead of this wide one, and removes it with the token. `lease_until` beside a token is set by engines of the previous version.
 */
export const TAKE = 'lease_token = gen_random_uuid(), lease_until = null, engine_id = ?::uuid, attempt = attempt + 1';

/** SQL: releases a lease. */
export const FREE = 'lease_token = null, lease_until = null, engine_id = null';

/** SQL: progress of a transcription `t`: of its lease while it runs, else of the row. */
export const STAGE = 'coalesce((select l.stage from leases l where l.token = t.lease_token), t.stage)';
export const FRACTION = 'greatest(t.fraction, (select l.fraction from leases l where l.token = t.lease_token))';

const KINDS = ['transcriptions', 'reports', 'previews'] as const;

/**
 * Renews leases and stores progress, in one narrow row each. Returns lost tokens, as `findLost` does. Rows locked by others are skipped
 * until the next heartbeat: waiting for them while holding other locks could deadlock with a deletion.
 */
export async function renew(tx: Tx, heartbeats: readonly Heartbeat[]): Promise<Set<string>> {
  await tx.rows(
    `with heartbeats as (select * from jsonb_to_recordset(?::jsonb) v (token uuid, stage text, fraction real)),
       free as (select l.token from leases l join heartbeats v on v.token = l.token for no key update of l skip locked)
     update leases l set until = clock_timestamp() + interval '${LEASE.expirySeconds} seconds', stage = coalesce(v.stage, l.stage),
       fraction = greatest(l.fraction, v.fraction)
     from heartbeats v join free on free.token = v.token where l.token = v.token`,
    [JSON.stringify(heartbeats.map(({ lease: { token }, stage, fraction }) => ({ token, stage, fraction })))],
  );
  return findLost(
    tx,
    heartbeats.map(({ lease }) => lease),
  );
}

/** The tokens whose work is lost: deleted, ended or taken over. Reads by primary key without locking. */
export async function findLost(tx: Pick<Tx, 'rows'>, leases: readonly Lease[]): Promise<Set<string>> {
  const parts = KINDS.map(
    (kind) => `select v.token from held v where v.kind = '${kind}'
      and not exists (select from ${kind} t where t.id = v.id and t.workspace_id = v.workspace_id and t.lease_token = v.token)`,
  );
  const rows = await tx.rows<{ token: string }>(
    `with held as (select * from jsonb_to_recordset(?::jsonb) v (kind text, id uuid, workspace_id uuid, token uuid)) ${parts.join(' union all ')}`,
    [JSON.stringify(leases.map(({ kind, id, workspaceId, token }) => ({ kind, id, workspace_id: workspaceId, token })))],
  );
  return new Set(rows.map(({ token }) => token));
}

/**
 * Requeues unfinished work, to be claimed by any engine after `seconds`. With `blameless` the attempt does not count: the holder is being
 * stopped or, with `hostFault`, its host is unable to work on the transcription. False: the lease was already lost.
 */
export async function requeue(tx: Tx, lease: Lease, { seconds = 0, blameless = false, hostFault = false } = {}): Promise<boolean> {
  const hindered = hostFault ? ', host_fault_at = coalesce(host_fault_at, clock_timestamp())' : '';
  const progress = lease.kind === 'transcriptions' ? `, stage = ${STAGE}, fraction = ${FRACTION}${hindered}` : '';
  const rows = await tx.rows(
    `update ${lease.kind} t set ${FREE}${progress}, attempt = greatest(0, attempt - ?::int), run_after = now() + ?::float8 * interval '1 second'
     where workspace_id = ?::uuid and id = ?::uuid and lease_token = ?::uuid returning 1`,
    [blameless ? 1 : 0, seconds, lease.workspaceId, lease.id, lease.token],
  );
  if (!rows.length) return false;
  if (lease.kind === 'reports') await enqueueReport(tx, lease.id, seconds);
  else if (lease.kind === 'previews') await enqueue(tx, 'preview', { id: lease.id }, { runAfterSeconds: seconds });
  else await enqueue(tx, 'dispatch', { id: lease.id }, { runAfterSeconds: seconds });
  return true;
}

/** Seconds to wait after the `attempt`-th failure: 5, 20, 80 … */
export function backOff(attempt: number): number {
  return Math.min(600, 5 * 4 ** Math.max(0, attempt - 1));
}

const JITTER = 0.25; // of a back-off

/** A back-off up to a quarter longer or shorter, so that work that failed together is not retried together. */
export function jitteredBackOff(attempt: number): number {
  return backOff(attempt) * (1 + JITTER * (2 * Math.random() - 1));
}

/** Longest back-off, seconds; none follows the last attempt. */
export const LONGEST_BACK_OFF = backOff(LEASE.attempts - 1) * (1 + JITTER);
