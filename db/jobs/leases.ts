import { LEASE } from '../../api/contract/limits.ts';
import type { Tx } from '../postgres/orm.ts';

/*
 * Who works on a transcription, a report or a preview is said by its row: a token that fences every write, and a time, by the clock of the database, at
 * which the holder counts as dead. The queue's own locks decide nothing.
 */

/** The right to work on one row. */
export interface Lease {
  kind: 'transcriptions' | 'reports' | 'previews';
  id: string;
  workspaceId: string;
  token: string;
}

/** A lease with what its holder has to say about the work. */
export interface Sign {
  lease: Lease;
  stage?: string;
  /** Of the whole work, 0 to 1. */
  fraction?: number;
}

/** SQL: takes the lease of a row for an engine (one parameter, its id). */
export const TAKE = `lease_token = gen_random_uuid(), lease_until = clock_timestamp() + interval '${LEASE.expirySeconds} seconds',
  engine_id = ?::uuid, attempt = attempt + 1`;

/** SQL: gives a lease up. */
export const FREE = 'lease_token = null, lease_until = null, engine_id = null';

/**
 * Gives signs of life and the progress of all work held. Returns the tokens whose work is lost: deleted, ended or another's now. A row that somebody
 * else has locked is left to the next sign: waiting for it, with others locked already, could end in a deadlock with a deletion.
 */
export async function renew(tx: Tx, signs: readonly Sign[]): Promise<Set<string>> {
  const lost = new Set<string>();
  for (const kind of ['transcriptions', 'reports', 'previews'] as const) {
    const values = signs
      .filter(({ lease }) => lease.kind === kind)
      .map(({ lease: { id, token }, stage, fraction }) => ({ id, token, stage, fraction }));
    if (!values.length) continue;
    const progress = kind === 'transcriptions' ? ', stage = coalesce(v.stage, t.stage), fraction = greatest(t.fraction, v.fraction)' : '';
    const rows = await tx.rows<{ token: string }>(
      `with signs as (select * from jsonb_to_recordset(?::jsonb) v (id uuid, token uuid, stage text, fraction real)),
       free as (select t.id from ${kind} t join signs v on t.id = v.id and t.lease_token = v.token for no key update of t skip locked),
       renewed as (
         update ${kind} t set lease_until = clock_timestamp() + interval '${LEASE.expirySeconds} seconds'${progress}
         from signs v join free using (id) where t.id = v.id and t.lease_token = v.token
       )
       select token from signs v where not exists (select 1 from ${kind} t where t.id = v.id and t.lease_token = v.token)`,
      [JSON.stringify(values)],
    );
    for (const { token } of rows) lost.add(token);
  }
  return lost;
}

/**
 * Gives work up before it is done, to be taken again by anybody after `seconds`. With `blameless` the attempt does not count: the holder is
 * being stopped. False: the lease was lost already.
 */
export async function handBack(tx: Tx, lease: Lease, { seconds = 0, blameless = false } = {}): Promise<boolean> {
  const rows = await tx.rows(
    `update ${lease.kind} set ${FREE}, attempt = greatest(0, attempt - ?::int), run_after = now() + ?::float8 * interval '1 second'
     where workspace_id = ?::uuid and id = ?::uuid and lease_token = ?::uuid returning 1`,
    [blameless ? 1 : 0, seconds, lease.workspaceId, lease.id, lease.token],
  );
  return rows.length > 0;
}

/** Seconds to wait after the `attempt`-th failure: 5, 20, 80 … */
export function backOff(attempt: number): number {
  return Math.min(600, 5 * 4 ** Math.max(0, attempt - 1));
}
