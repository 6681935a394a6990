import { type Actor, type OperatorActor, operatorOf } from '../../api/contract/actor.ts';
import type { Plan } from '../../api/contract/workspace.ts';
import { audit } from '../access/audit.ts';
import { addMinutes } from '../minutes/balance.ts';
import type { Db, Tx } from '../postgres/orm.ts';
import type { Vault } from '../secrets/vault.ts';
import { lookupId } from './visibility.ts';

export interface WorkspaceSummary {
  id: string;
  name: string;
  concurrency: number;
  /** Granted minus charged minus open reservations, rounded down to 2 decimals. */
  available_minutes: number;
}

/** What a key may know of its workspace. */
export async function workspaceSummary(tx: Tx, actor: Actor): Promise<WorkspaceSummary> {
  const row = await tx.row<Omit<WorkspaceSummary, 'available_minutes'> & { available: string }>(
    `select w.id, w.name, w.concurrency, floor(100 * (w.balance_minutes
       - coalesce((select sum(r.minutes) from reservations r where r.workspace_id = w.id), 0))) / 100 as available
     from workspaces w where w.id = ?`,
    [actor.workspaceId],
  );
  if (!row) throw new Error(`Cannot describe workspace ${actor.workspaceId}: it is gone`);
  const { available, ...rest } = row;
  return { ...rest, available_minutes: Number(available) };
}

export interface NewWorkspace {
  name: string;
  minutes?: number;
  plan?: Plan;
  concurrency?: number;
}

/** Makes a workspace with a data key of its own. The transaction acts for the installation. */
export async function createWorkspace(tx: Tx, vault: Vault, { name, minutes = 0, plan = 'api', concurrency = 4 }: NewWorkspace) {
  const workspace = await tx.row<{ id: string; name: string }>(
    'insert into workspaces (name, plan, concurrency) values (?, ?, ?) returning id, name',
    [name, plan, concurrency],
  );
  await vault.createKey(tx, workspace!.id);
  const operator = operatorOf(workspace!.id);
  await audit(tx, operator, 'workspace.create', workspace!.id);
  if (minutes) await addMinutes(tx, operator, minutes);
  return workspace!;
}

export interface WorkspaceChange {
  name?: string;
  plan?: Plan;
  concurrency?: number;
  /** Owners are told when the balance falls below; 0: never. */
  lowBalanceMinutes?: number;
}

/** Changes what the operator decides about a workspace. */
export async function changeWorkspace(tx: Tx, actor: OperatorActor, { name, plan, concurrency, lowBalanceMinutes }: WorkspaceChange) {
  const row = await tx.row<{ id: string; name: string; plan: Plan; concurrency: number; low_balance_minutes: number }>(
    `update workspaces set name = coalesce(?, name), plan = coalesce(?, plan), concurrency = coalesce(?, concurrency),
       low_balance_minutes = coalesce(?, low_balance_minutes)
     where id = ? returning id, name, plan, concurrency, low_balance_minutes::float8 as low_balance_minutes`,
    [name ?? null, plan ?? null, concurrency ?? null, lowBalanceMinutes ?? null, actor.workspaceId],
  );
  if (!row) throw new Error(`There is no workspace ${actor.workspaceId}`);
  await audit(tx, actor, 'workspace.change', actor.workspaceId);
  return row;
}

/** Every workspace, oldest first. The transaction acts for the installation. */
export function listWorkspaces(tx: Tx) {
  return tx.rows<{
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
  );
}

interface Destroyed {
  id: string;
  /** Spooled recordings left to remove. */
  media: { id: string; extension: string }[];
}

const DEADLOCK = '40P01'; // as PostgreSQL says
const TRIES = 20;

/**
 * Destroys a workspace with its data key: what backups still hold of it can no longer be read. Engines that work on it lock its rows from the other
 * end: of a deadlock with them PostgreSQL ends either side, so it is tried again.
 */
export async function deleteWorkspace(db: Db, workspaceId: string): Promise<Destroyed> {
  for (let tries = 1; ; tries++) {
    try {
      return await db.acrossTenants((tx) => destroy(tx, workspaceId));
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
  if (!(await tx.row('delete from workspaces where id = ? returning id', [id]))) throw new Error(`There is no workspace ${workspaceId}`);
  await audit(tx, operatorOf(id), 'workspace.delete', id);
  return { id, media };
}
