import { type Actor, type OperatorActor, operatorOf } from '../../api/contract/actor.ts';
import type { Plan } from '../../api/contract/workspace.ts';
import { audit } from '../access/audit.ts';
import { enqueuePurge } from '../jobs/queue.ts';
import { addMinutes } from '../minutes/balance.ts';
import { ReportTurn, Turn } from '../postgres/entities/jobs.ts';
import { DataKey, Workspace } from '../postgres/entities/workspace.ts';
import { now } from '../postgres/expressions.ts';
import type { Tx } from '../postgres/orm.ts';
import type { Vault } from '../secrets/vault.ts';
import { lookupId } from './visibility.ts';

export interface WorkspaceSummary {
  id: string;
  name: string;
  concurrency: number;
  /** Granted minus charged minus open reservations, rounded down to 2 decimals. */
  available_minutes: number;
}

/** A workspace as visible to its keys. */
export async function workspaceSummary(tx: Tx, actor: Actor): Promise<WorkspaceSummary> {
  // SQL: a total, rounded with exact decimal arithmetic
  const row = await tx.row<Omit<WorkspaceSummary, 'available_minutes'> & { available: string }>(
    `select w.id, w.name, w.concurrency, floor(100 * (w.balance_minutes
       - coalesce((select sum(r.minutes) from reservations r where r.workspace_id = w.id), 0))) / 100 as available
     from workspaces w where w.id = ?`,
    [actor.workspaceId],
  );
  if (!row) throw new Error(`Cannot describe workspace ${actor.workspaceId}: it was deleted`);
  const { available, ...rest } = row;
  return { ...rest, available_minutes: Number(available) };
}

export interface NewWorkspace {
  name: string;
  minutes?: number;
  plan?: Plan;
  concurrency?: number;
}

/** Creates a workspace with its own data key. The transaction acts for the installation. */
export async function createWorkspace(tx: Tx, vault: Vault, { name, minutes = 0, plan = 'api', concurrency = 4 }: NewWorkspace) {
  const workspace = tx.em.create(Workspace, { name, plan, concurrency });
  await tx.em.flush();
  const { id } = workspace;
  await vault.createKey(tx, id);
  const operator = operatorOf(id);
  await audit(tx, operator, 'workspace.create', id);
  if (minutes) await addMinutes(tx, operator, minutes);
  return { id, name };
}

export interface WorkspaceChange {
  name?: string;
  plan?: Plan;
  concurrency?: number;
  /** Balance in minutes below which owners are notified; 0: never. */
  lowBalanceMinutes?: number;
  /** Days for which recordings are kept, within the operator's maximum; 0: not at all. */
  keepRecordingsDays?: number;
}

/** Changes the operator's settings of a workspace. */
export async function changeWorkspace(tx: Tx, actor: OperatorActor, change: WorkspaceChange) {
  const { workspaceId: id } = actor;
  const { name, plan, concurrency, lowBalanceMinutes, keepRecordingsDays } = change;
  const workspace = await tx.em.findOne(Workspace, { id, deletedAt: null });
  if (!workspace) throw new Error(`There is no workspace ${id}`);
  if (name !== undefined) workspace.name = name;
  if (plan) workspace.plan = plan;
  if (concurrency !== undefined) workspace.concurrency = concurrency;
  if (lowBalanceMinutes !== undefined) workspace.lowBalanceMinutes = String(lowBalanceMinutes);
  if (keepRecordingsDays !== undefined) workspace.keepRecordingsDays = keepRecordingsDays;
  await tx.em.flush();
  await audit(tx, actor, 'workspace.change', id);
  return {
    ...{ id, name: workspace.name, plan: workspace.plan, concurrency: workspace.concurrency },
    low_balance_minutes: Number(workspace.lowBalanceMinutes),
    keep_recordings_days: workspace.keepRecordingsDays,
  };
}

/** Every workspace, oldest first. SQL: totals of each. The transaction acts for the installation. */
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
     from workspaces w where w.deleted_at is null order by w.created_at, w.id`,
  );
}

/**
 * Deletes a workspace: its data key is destroyed first, so that its content can never be read again, here or in backups; sign-in and new
 * work are refused. Rows and recordings are removed in batches by a job (purge.ts). Throws if there is none. The transaction acts for the
 * installation.
 */
export async function deleteWorkspace(tx: Tx, workspaceId: string): Promise<{ id: string }> {
  const id = lookupId(workspaceId);
  if (!(await tx.em.nativeUpdate(Workspace, { id, deletedAt: null }, { deletedAt: now(), vocabularySealed: null, keepRecordingsDays: 0 })))
    throw new Error(`There is no workspace ${workspaceId}`);
  await tx.em.nativeDelete(DataKey, { workspaceId: id });
  await tx.em.nativeDelete(Turn, { workspaceId: id });
  await tx.em.nativeDelete(ReportTurn, { workspaceId: id });
  await enqueuePurge(tx, id);
  await audit(tx, operatorOf(id), 'workspace.delete', id);
  return { id };
}
