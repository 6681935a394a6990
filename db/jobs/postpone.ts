import type { Tx } from '../postgres/orm.ts';

/** SQL, identical to the conditions of the indexes that serve it. */
export const UNPROBED = `q.status = 'queued' and q.probed_at is null and q.lease_token is null`;

/**
 * Removes the turn of a workspace with nothing to start in these lanes, or sets it to the time when there will be. Work locked by others
 * keeps the turn.
 */
export async function postpone(tx: Tx, workspaceId: string, of: readonly string[], waiting: string): Promise<void> {
  if (await delay(tx, workspaceId, of, waiting)) return;
  await tx.rows('delete from turns where workspace_id = ?::uuid and lane = any (?::text[])', [workspaceId, of]);
}

/** Sets the turn of a workspace to the time when the first of some waiting transcriptions is due. False if there are none. */
export async function delay(tx: Tx, workspaceId: string, of: readonly string[], waiting: string): Promise<boolean> {
  const alias = waiting === UNPROBED ? 'q' : 't';
  const row = await tx.row<{ due: string | null }>(
    `select min(${alias}.run_after) as due from transcriptions ${alias} where ${alias}.workspace_id = ?::uuid and ${waiting}`,
    [workspaceId],
  );
  if (!row?.due) return false;
  await tx.rows('update turns set due_at = ?::timestamptz where workspace_id = ?::uuid and lane = any (?::text[])', [
    row.due,
    workspaceId,
    of,
  ]);
  return true;
}
