import type { ProjectRole, Role } from '../../api/contract/workspace.ts';
import { makeSignInLink } from '../access/sessions.ts';
import type { Db, Tx } from '../postgres/orm.ts';
import { absent, existing, unique } from './existing.ts';
import { lookupId } from './visibility.ts';

export interface NewMember {
  workspaceId: string;
  email: string;
  name?: string;
  role?: Role;
  pending?: boolean;
}

export function addMember(db: Db, { workspaceId, email, name, role = 'user', pending = false }: NewMember) {
  return db.system(async (tx) => {
    await existing(tx, 'workspace', workspaceId);
    return unique(
      'address',
      `a member with the address ${email}`,
      tx.row<{ id: string; email: string; role: Role; status: string }>(
        'insert into members (workspace_id, email, name, role, status) values (?, ?, ?, ?, ?) returning id, email, role, status',
        [workspaceId, email.trim(), name ?? null, role, pending ? 'pending' : 'active'],
      ),
    );
  });
}

export function activateMember(db: Db, workspaceId: string, memberId: string) {
  return db.system(async (tx) => {
    const row = await tx.row<{ id: string; email: string; status: string }>(
      `update members set status = 'active' where workspace_id = ? and id = ? and status <> 'removed' returning id, email, status`,
      [lookupId(workspaceId), lookupId(memberId)],
    );
    return row ?? Promise.reject(absent('member', memberId));
  });
}

/** Ends a membership: keys and tokens stop working, identities and places in projects go; transcriptions stay and keep their author. */
export function removeMember(db: Db, workspaceId: string, memberId: string) {
  return db.system((tx) => endMembership(tx, workspaceId, memberId));
}

/** The same within a transaction. */
export async function endMembership(tx: Tx, workspaceId: string, memberId: string) {
  const row = await tx.row<{ id: string; email: string; status: string }>(
    `update members set status = 'removed', removed_at = now() where workspace_id = ? and id = ? and status <> 'removed'
       returning id, email, status`,
    [lookupId(workspaceId), lookupId(memberId)],
  );
  if (!row) throw absent('member', memberId);
  for (const table of ['identities', 'project_members', 'sessions', 'sign_in_links', 'oauth_codes'])
    await tx.rows(`delete from ${table} where workspace_id = ? and member_id = ?`, [workspaceId, memberId]);
  for (const table of ['api_keys', 'oauth_tokens'])
    await tx.rows(`update ${table} set revoked_at = now() where workspace_id = ? and member_id = ? and revoked_at is null`, [
      workspaceId,
      memberId,
    ]);
  return row;
}

/** The secret of a link that signs the member in to the console once. */
export function signInLink(db: Db, workspaceId: string, memberId: string): Promise<string> {
  return db.system(async (tx) => {
    await existing(tx, 'member', memberId, workspaceId);
    return makeSignInLink(tx, { workspaceId, memberId });
  });
}

export function createProject(db: Db, workspaceId: string, name: string) {
  return db.system(async (tx) => {
    await existing(tx, 'workspace', workspaceId);
    const sql = 'insert into projects (workspace_id, name) values (?, ?) returning id, name';
    return (await tx.row<{ id: string; name: string }>(sql, [workspaceId, name]))!;
  });
}

/** Gives a member of the project's workspace a role in it; 'none' takes it away. */
export function setProjectMember(db: Db, projectId: string, memberId: string, role: ProjectRole | 'none') {
  return db.system(async (tx) => {
    const project = await existing(tx, 'project', projectId);
    await existing(tx, 'member', memberId, project.workspace_id);
    if (role === 'none') await tx.rows('delete from project_members where project_id = ? and member_id = ?', [projectId, memberId]);
    else
      await tx.rows(
        `insert into project_members (project_id, member_id, workspace_id, role) values (?, ?, ?, ?)
         on conflict (project_id, member_id) do update set role = excluded.role`,
        [projectId, memberId, project.workspace_id, role],
      );
    return { project_id: projectId, member_id: memberId, role };
  });
}
