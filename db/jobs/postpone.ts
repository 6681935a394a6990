import type { Tx } from '../postgres/orm.ts';

/** SQL, identical to the conditions of the indexes that serve it. */
export const UNPROBED = `q.status = 'queued' and q.probed_at is null and q.lease_token is null`;

/**
 * Removes the turn of a workspace with nothing to start in these lanes, or sets it to the time when there will be. Work locked by others
 * keeps the turn.
 */
export async function postpone(tx: Tx, workspaceId: string, of: readonly string[], waiting: string): Promise<void> {
  const due = await earliest(tx, workspaceId, waiting);
  if (due)
    await tx.rows('update turns set due_at = ?::timestamptz where workspace_id = ?::uuid and lane = any (?::text[])', [
      due,
      workspaceId,
      of,
    ]);
  else await tx.rows('delete from turns where workspace_id = ?::uuid and lane = any (?::text[])', [workspaceId, of]);
}

/** When the first of some waiting transcriptions is due. */
export async function earliest(tx: Tx, workspaceId: string, waiting: string): Promise<string | null> {
  const alias = waiting === UNPROBED ? 'q' : 't';
  const row = await tx.row<{ due: string | null }>(
    `select min(${alias}.run_after) as due from transcriptions ${alias} where ${alias}.workspace_id = ?::uuid and ${waiting}`,
    [workspaceId],
  );
  return row?.due ?? null;
}
