import { type Actor, requireFullRights } from '../../api/contract/actor.ts';
import { forbidden, notFound } from '../../api/contract/errors.ts';
import type { Project, ProjectRole } from '../../api/contract/workspace.ts';
import { audit } from '../access/audit.ts';
import type { Tx } from '../postgres/orm.ts';
import { activeMember, existingMember } from './members.ts';
import { lookupId } from './visibility.ts';

/** Projects the actor sees, newest first, ties by id: all for an owner, else those they belong to. */
export function listProjects(tx: Tx, actor: Actor): Promise<Project[]> {
  return tx.rows<Project>(
    `select p.id, p.name, to_char(p.created_at at time zone 'utc', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as created_at
     from projects p
     where p.workspace_id = ?
       and (? or exists (select 1 from project_members pm where pm.project_id = p.id and pm.workspace_id = p.workspace_id and pm.member_id = ?))
     order by p.created_at desc, p.id`,
    [actor.workspaceId, actor.role === 'owner', actor.memberId],
  );
}

interface ProjectName {
  id: string;
  name: string;
}

/** Where files may be uploaded to: the actor is editor or owner of the project, or owner of the workspace. */
const OPEN = `p.workspace_id = ? and (? or exists (select 1 from project_members pm
  where pm.project_id = p.id and pm.workspace_id = p.workspace_id and pm.member_id = ? and pm.role in ('editor', 'owner')))`;
const opening = (actor: Actor) => [actor.workspaceId, actor.role === 'owner', actor.memberId];

/** The project a file may be uploaded to. Null for an unknown, a foreign and a closed one alike. */
export function uploadProject(tx: Tx, actor: Actor, projectId: string): Promise<ProjectName | null> {
  return tx.row<ProjectName>(`select p.id, p.name from projects p where ${OPEN} and p.id = ?`, [...opening(actor), lookupId(projectId)]);
}

/** All of them, by name. */
export function uploadProjects(tx: Tx, actor: Actor): Promise<ProjectName[]> {
  return tx.rows<ProjectName>(`select p.id, p.name from projects p where ${OPEN} order by lower(p.name), p.id`, opening(actor));
}

/** A new project; the member who makes it owns it. */
export async function createProject(tx: Tx, actor: Actor, name: string): Promise<{ id: string; name: string; created_at: Date }> {
  requireFullRights(actor);
  const row = await tx.row<{ id: string; name: string; created_at: string }>(
    'insert into projects (workspace_id, name) values (?, ?) returning id, name, created_at',
    [actor.workspaceId, name],
  );
  if (actor.kind !== 'operator')
    await tx.rows(`insert into project_members (project_id, member_id, workspace_id, role) values (?, ?, ?, 'owner')`, [
      row!.id,
      actor.memberId,
      actor.workspaceId,
    ]);
  await audit(tx, actor, 'project.create', row!.id);
  return { ...row!, created_at: new Date(row!.created_at) };
}

/** Deletes a project; its transcriptions stay, in none. Throws 404, and 403 for everybody but its owners and those of the workspace. */
export async function deleteProject(tx: Tx, actor: Actor, projectId: string): Promise<void> {
  requireFullRights(actor);
  if ((await roleIn(tx, actor, projectId)) !== 'owner') throw forbidden('Only owners of the project or the workspace may delete it');
  await tx.rows('delete from projects where workspace_id = ? and id = ?', [actor.workspaceId, projectId]);
  await audit(tx, actor, 'project.delete', projectId);
}

export interface ProjectMember {
  id: string;
  email: string;
  name: string | null;
  role: ProjectRole;
}

/**
 * Who belongs to a project, and for its owners whom of the workspace they may give a role (null for everybody else). Throws 404 for somebody who does not belong to
 * it, unless they own the workspace.
 */
export async function listProjectMembers(tx: Tx, actor: Actor, projectId: string) {
  const role = await roleIn(tx, actor, projectId);
  const items = await tx.rows<ProjectMember>(
    `select m.id, m.email, m.name, pm.role from project_members pm join members m on m.id = pm.member_id
     where pm.workspace_id = ? and pm.project_id = ? order by m.email`,
    [actor.workspaceId, lookupId(projectId)],
  );
  return { items, candidates: role === 'owner' ? await listCandidates(tx, actor) : null };
}

function listCandidates(tx: Tx, actor: Actor) {
  return tx.rows<Omit<ProjectMember, 'role'>>(
    `select m.id, m.email, m.name from members m where m.workspace_id = ? and m.status = 'active' order by m.email limit 1000`,
    [actor.workspaceId],
  );
}

/** Gives a member a role in a project; 'none' removes it. Throws 404, and 403 for everybody but owners of the project or of the workspace. */
export async function setProjectMember(
  tx: Tx,
  actor: Actor,
  projectId: string,
  memberId: string,
  role: ProjectRole | 'none',
): Promise<void> {
  requireFullRights(actor);
  if ((await roleIn(tx, actor, projectId)) !== 'owner')
    throw forbidden('Only owners of the project or the workspace may change who belongs to it');
  const member = await (actor.kind === 'operator' ? existingMember : activeMember)(tx, actor.workspaceId, memberId);
  if (role === 'none') await tx.rows('delete from project_members where project_id = ? and member_id = ?', [projectId, member]);
  else
    await tx.rows(
      `insert into project_members (project_id, member_id, workspace_id, role) values (?, ?, ?, ?)
       on conflict (project_id, member_id) do update set role = excluded.role`,
      [projectId, member, actor.workspaceId, role],
    );
  await audit(tx, actor, 'project.member', projectId);
}

/** What the actor is in a project; owners of the workspace are its owners. Throws 404 for those who do not belong to it. */
async function roleIn(tx: Tx, actor: Actor, projectId: string): Promise<ProjectRole> {
  const row = await tx.row<{ role: ProjectRole | null }>(
    `select pm.role from projects p left join project_members pm on pm.project_id = p.id and pm.member_id = ? where p.workspace_id = ? and p.id = ?`,
    [actor.memberId, actor.workspaceId, lookupId(projectId)],
  );
  const role = actor.role === 'owner' ? 'owner' : row?.role;
  if (!row || !role) throw notFound();
  return role;
}
