import type { Tx } from '../postgres/orm.ts';

export interface WorkspaceSummary {
  id: string;
  name: string;
  concurrency: number;
  /** Granted minus charged minus open reservations, rounded down to 2 decimals. */
  available_minutes: number;
}

/** What a key may know of its workspace. */
export async function workspaceSummary(tx: Tx, workspaceId: string): Promise<WorkspaceSummary> {
  const row = await tx.row<Omit<WorkspaceSummary, 'available_minutes'> & { available: string }>(
    `select w.id, w.name, w.concurrency, floor(100 * (w.balance_minutes
       - coalesce((select sum(r.minutes) from reservations r where r.workspace_id = w.id), 0))) / 100 as available
     from workspaces w where w.id = ?`,
    [workspaceId],
  );
  if (!row) throw new Error(`Cannot describe workspace ${workspaceId}: it is gone`);
  const { available, ...rest } = row;
  return { ...rest, available_minutes: Number(available) };
}
