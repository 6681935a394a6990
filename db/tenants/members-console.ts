import { ApiError, invalid } from '../../api/contract/errors.ts';
import type { ProjectRole, Role } from '../../api/contract/workspace.ts';
import type { Tx } from '../postgres/orm.ts';
import { stamp } from '../transcripts/list-row.ts';
import { lookupId, type Viewer } from './visibility.ts';

/** The workspace must keep an active owner; the rows of all owners are held until the transaction ends. */
export async function keepsOwner(tx: Tx, workspaceId: string, leaving: string): Promise<void> {
  const owners = await tx.rows<{ id: string }>(
    `select id from members where workspace_id = ? and role = 'owner' and status = 'active' order by id for update`,
    [workspaceId],
  );
  if (owners.length === 1 && owners[0]!.id === leaving.toLowerCase()) {
    throw invalid([{ field: 'member', message: 'is the last owner of the workspace; make somebody else an owner first' }]);
  }
}

/** Changes name, role or status of a member who has not left. Throws `member_not_found`. */
export async function changeMember(
  tx: Tx,
  workspaceId: string,
  memberId: string,
  change: { name?: string | null; role?: Role; status?: 'active' },
) {
  if (change.role === 'user') await keepsOwner(tx, workspaceId, memberId);
  const row = await tx.row(
    `update members set name = case when ? then ? else name end, role = coalesce(?, role), status = coalesce(?, status)
     where workspace_id = ? and id = ? and status <> 'removed' returning id, email, name, role, status`,
    [change.name !== undefined, change.name ?? null, change.role ?? null, change.status ?? null, workspaceId, lookupId(memberId)],
  );
  if (!row) throw new ApiError('member_not_found');
  return row;
}

/** Invited people who have not come yet. */
export function pendingMembers(tx: Tx, workspaceId: string) {
  return tx.rows(
    `select m.id, m.email, m.name, m.role, ${stamp('m.created_at')} as created_at from members m
     where m.workspace_id = ? and m.status = 'pending' order by m.created_at, m.id limit 1000`,
    [workspaceId],
  );
}

/** A new project; whoever makes it owns it. */
export async function addProject(tx: Tx, viewer: Viewer, name: string) {
  const row = await tx.row<{ id: string; name: string; created_at: string }>(
    'insert into projects (workspace_id, name) values (?, ?) returning id, name, created_at',
    [viewer.workspaceId, name],
  );
  await tx.rows(`insert into project_members (project_id, member_id, workspace_id, role) values (?, ?, ?, 'owner')`, [
    row!.id,
    viewer.memberId,
    viewer.workspaceId,
  ]);
  return { ...row!, created_at: new Date(row!.created_at) };
}

/** Whether this person belongs to the project, and whether they may change who else does. */
export async function standing(tx: Tx, viewer: Viewer, projectId: string): Promise<'none' | 'member' | 'owner'> {
  const row = await tx.row<{ role: ProjectRole | null }>(
    `select pm.role from projects p left join project_members pm on pm.project_id = p.id and pm.member_id = ? where p.workspace_id = ? and p.id = ?`,
    [viewer.memberId, viewer.workspaceId, lookupId(projectId)],
  );
  if (!row || (row.role === null && viewer.role !== 'owner')) return 'none';
  return viewer.role === 'owner' || row.role === 'owner' ? 'owner' : 'member';
}

export function projectMembers(tx: Tx, workspaceId: string, projectId: string) {
  return tx.rows(
    `select m.id, m.email, m.name, pm.role from project_members pm join members m on m.id = pm.member_id
     where pm.workspace_id = ? and pm.project_id = ? order by m.email`,
    [workspaceId, lookupId(projectId)],
  );
}
