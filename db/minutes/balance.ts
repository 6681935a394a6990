import type { OperatorActor } from '../../api/contract/actor.ts';
import { audit } from '../access/audit.ts';
import type { Tx } from '../postgres/orm.ts';

/*
 * SQL: exact arithmetic under the lock of the workspace's row.
 * The balance of a workspace, `workspaces.balance_minutes`, is what was granted minus what was charged; open reservations are subtracted on
 * each read. Every change happens under the lock of the workspace's row, so that two files never spend the same minutes.
 */

/** The minutes a file needs and those available, as exact decimal text. */
export interface Shortfall {
  required: string;
  available: string;
}

/**
 * Locks the balance until the transaction ends. Must be taken before any transcription is locked. False: the workspace no longer exists.
 */
export async function lockBalance(tx: Tx, workspaceId: string): Promise<boolean> {
  return (await tx.row('select 1 from workspaces w where w.id = ?::uuid for no key update', [workspaceId])) !== null;
}

/**
 * Reserves minutes for a recording, or increases its reservation; never decreases it. Returns null, or the shortfall. The balance must be
 * locked.
 */
export async function reserve(tx: Tx, workspaceId: string, transcriptionId: string, seconds: number): Promise<Shortfall | null> {
  const row = await tx.row<Shortfall & { enough: boolean }>(
    `with need as (select ?::numeric / 60 as minutes),
       room as (select w.balance_minutes - coalesce((select sum(r.minutes) from reservations r
         where r.workspace_id = w.id and r.transcription_id <> ?::uuid), 0) as minutes from workspaces w where w.id = ?::uuid),
       made as (insert into reservations (transcription_id, workspace_id, minutes)
         select ?::uuid, ?::uuid, need.minutes from need, room where room.minutes >= need.minutes
         on conflict (transcription_id) do update set minutes = greatest(reservations.minutes, excluded.minutes) returning 1)
     select need.minutes as required, room.minutes as available, exists (select from made) as enough from need, room`,
    [seconds, transcriptionId, workspaceId, transcriptionId, workspaceId],
  );
  if (!row) throw new Error(`Cannot reserve minutes: workspace ${workspaceId} was deleted`);
  return row.enough ? null : { required: row.required, available: row.available };
}

/**
 * Charges the decoded duration, unrounded, and releases the reservation. The balance must be locked. Throws if this recording was already
 * charged.
 */
export async function charge(tx: Tx, workspaceId: string, transcriptionId: string, seconds: number): Promise<void> {
  await tx.rows(
    `with charged as (insert into ledger (workspace_id, transcription_id, minutes, key_id, project_id)
         select ?::uuid, ?::uuid, - ?::numeric / 60, t.key_id, t.project_id
         from (select 1) one left join transcriptions t on t.workspace_id = ?::uuid and t.id = ?::uuid returning minutes),
       counted as (update charged set minutes = minutes + ?::numeric / 60 where slot = (select floor(random() * 16)::int)),
       released as (delete from reservations r where r.workspace_id = ?::uuid and r.transcription_id = ?::uuid)
     update workspaces w set balance_minutes = w.balance_minutes + (select minutes from charged) where w.id = ?::uuid`,
    [workspaceId, transcriptionId, seconds, workspaceId, transcriptionId, seconds, workspaceId, transcriptionId, workspaceId],
  );
}

/** Releases a recording's reservation. */
export async function release(tx: Tx, workspaceId: string, transcriptionId: string): Promise<void> {
  await tx.rows('delete from reservations r where r.workspace_id = ?::uuid and r.transcription_id = ?::uuid', [
    workspaceId,
    transcriptionId,
  ]);
}

/** Adds minutes to a workspace, or subtracts them if negative. Returns its balance without open reservations. */
export async function addMinutes(tx: Tx, actor: OperatorActor, minutes: number): Promise<{ id: string; balance_minutes: number }> {
  const { workspaceId } = actor;
  const row = await tx.row<{ id: string; balance: string }>(
    'update workspaces set balance_minutes = balance_minutes + ? where id = ? returning id, balance_minutes as balance',
    [minutes, workspaceId],
  );
  if (!row) throw new Error(`Cannot add minutes: workspace ${workspaceId} was deleted`);
  await tx.rows('insert into ledger (workspace_id, minutes) values (?, ?)', [row.id, minutes]);
  await audit(tx, actor, 'workspace.minutes', workspaceId);
  return { id: row.id, balance_minutes: Number(row.balance) };
}
