import type { Plan } from '../../api/contract/workspace.ts';
import type { Db, Tx } from '../postgres/orm.ts';
import type { Vault } from '../secrets/vault.ts';
import { absent } from './existing.ts';
import { lookupId } from './visibility.ts';

const DEADLOCK = '40P01'; // as PostgreSQL says
const TRIES = 20;

export interface NewWorkspace {
  name: string;
  minutes?: number;
  plan?: Plan;
  concurrency?: number;
}

/** Makes a workspace with a data key of its own. */
export function createWorkspace(db: Db, vault: Vault, { name, minutes = 0, plan = 'api', concurrency = 4 }: NewWorkspace) {
  return db.system(async (tx) => {
    const workspace = await tx.row<{ id: string; name: string }>(
      'insert into workspaces (name, plan, concurrency) values (?, ?, ?) returning id, name',
      [name, plan, concurrency],
    );
    await vault.createKey(tx, workspace!.id);
    if (minutes) await grant(tx, workspace!.id, minutes);
    return workspace!;
  });
}

/** Adds minutes to a workspace, or takes them away when negative. Returns its balance without open reservations. */
export function addMinutes(db: Db, workspaceId: string, minutes: number): Promise<{ id: string; balance_minutes: number }> {
  return db.system((tx) => grant(tx, workspaceId, minutes));
}

async function grant(tx: Tx, workspaceId: string, minutes: number): Promise<{ id: string; balance_minutes: number }> {
  const row = await tx.row<{ id: string; balance: string }>(
    'update workspaces set balance_minutes = balance_minutes + ? where id = ? returning id, balance_minutes as balance',
    [minutes, lookupId(workspaceId)],
  );
  if (!row) throw absent('workspace', workspaceId);
  await tx.rows('insert into ledger (workspace_id, minutes) values (?, ?)', [row.id, minutes]);
  return { id: row.id, balance_minutes: Number(row.balance) };
}

export function listWorkspaces(db: Db) {
  return db.system((tx) =>
    tx.rows<{
      id: string;
      name: string;
      plan: Plan;
      concurrency: number;
      balance_minutes: number;
      members: number;
      transcriptions: number;
    }>(
      `select w.id, w.name, w.plan, w.concurrency, w.balance_minutes::float8 as balance_minutes,
         (select count(*)::int from members m where m.workspace_id = w.id and m.status = 'active') as members,
         (select count(*)::int from transcriptions t where t.workspace_id = w.id) as transcriptions
       from workspaces w order by w.created_at, w.id`,
    ),
  );
}

interface Destroyed {
  id: string;
  /** Spooled recordings left to remove. */
  media: { id: string; extension: string }[];
}

/**
 * Destroys a workspace with its data key: what backups still hold of it can no longer be read. Engines that work on it lock its rows from the other
 * end: of a deadlock with them PostgreSQL ends either side, so it is tried again.
 */
export async function deleteWorkspace(db: Db, workspaceId: string): Promise<Destroyed> {
  for (let tries = 1; ; tries++) {
    try {
      return await db.system((tx) => destroy(tx, workspaceId));
    } catch (error) {
      if ((error as { code?: string }).code !== DEADLOCK || tries === TRIES) throw error;
    }
  }
}

async function destroy(tx: Tx, workspaceId: string): Promise<Destroyed> {
  const id = lookupId(workspaceId);
  const media = await tx.rows<{ id: string; extension: string }>(
    'select id, extension from transcriptions where workspace_id = ? and media_key_sealed is not null',
    [id],
  );
  if (!(await tx.row('delete from workspaces where id = ? returning id', [id]))) throw absent('workspace', workspaceId);
  return { id, media };
}
