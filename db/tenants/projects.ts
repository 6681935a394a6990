import { type Actor, requireFullRights } from '../../api/contract/actor.ts';
import { forbidden, notFound } from '../../api/contract/errors.ts';
import type { Project, ProjectRole } from '../../api/contract/workspace.ts';
import { audit } from '../access/audit.ts';
import { Member, ProjectMember as Place, Project as ProjectEntity } from '../postgres/entities/member.ts';
import { anyOf, lowered } from '../postgres/expressions.ts';
import type { Tx } from '../postgres/orm.ts';
import { activeMember, existingMember } from './members.ts';
import { lookupId } from './visibility.ts';

/** Projects visible to the actor, newest first, ties by id: all for an owner, else their own. */
export async function listProjects(tx: Tx, actor: Actor): Promise<Project[]> {
  const found = await tx.em.find(ProjectEntity, await within(tx, actor), { orderBy: { createdAt: 'desc', id: 'asc' } });
  return found.map(({ id, name, createdAt }) => ({ id, name, created_at: createdAt.toISOString() }));
}

/** Filter for projects in which the actor has one of these roles; owners of the workspace have every role in all of them. */
async function within(tx: Tx, { workspaceId, memberId, role }: Actor, roles?: readonly ProjectRole[]) {
  if (role === 'owner' || memberId === null) return { workspaceId };
  const places = await tx.em.find(Place, { workspaceId, memberId, ...(roles && { role: { $in: [...roles] } }) });
  return { workspaceId, id: anyOf(places.map(({ projectId }) => projectId)) };
}

interface ProjectName {
  id: string;
  name: string;
}

/** Roles that may upload to a project. */
const WRITERS = ['editor', 'owner'] as const;

/** The project to upload to. Null if it is unknown, foreign, or not open to the actor. */
export async function uploadProject(tx: Tx, actor: Actor, projectId: string): Promise<ProjectName | null> {
  const open = await within(tx, actor, WRITERS);
  const project = await tx.em.findOne(ProjectEntity, { $and: [open, { id: lookupId(projectId) }] });
  return project && { id: project.id, name: project.name };
}

/** All projects that the actor may upload to, by name. */
export async function uploadProjects(tx: Tx, actor: Actor): Promise<ProjectName[]> {
  const found = await tx.em.find(ProjectEntity, await within(tx, actor, WRITERS), { orderBy: { [lowered('name')]: 'asc', id: 'asc' } });
  return found.map(({ id, name }) => ({ id, name }));
}

/** Creates a project owned by the acting member. */
export async function createProject(tx: Tx, actor: Actor, name: string): Promise<{ id: string; name: string; created_at: Date }> {
  requireFullRights(actor);
  const { workspaceId } = actor;
  const project = tx.em.create(ProjectEntity, { workspaceId, name });
  await tx.em.flush();
  const { id, createdAt } = project;
  if (actor.kind !== 'operator') await tx.em.insert(Place, { projectId: id, memberId: actor.memberId, workspaceId, role: 'owner' });
  await audit(tx, actor, 'project.create', id);
  return { id, name, created_at: createdAt };
}

/**
 * Deletes a project; its transcriptions stay, without a project. Throws 404, and 403 unless the actor owns the project or the workspace.
 */
export async function deleteProject(tx: Tx, actor: Actor, projectId: string): Promise<void> {
  requireFullRights(actor);
  if ((await roleIn(tx, actor, projectId)) !== 'owner') throw forbidden('Only owners of the project or the workspace may delete it');
  await tx.em.nativeDelete(ProjectEntity, { workspaceId: actor.workspaceId, id: projectId });
  await audit(tx, actor, 'project.delete', projectId);
}

export interface ProjectMember {
  id: string;
  email: string;
  name: string | null;
  role: ProjectRole;
}

/**
 * The members of a project and, for its owners, the other members of the workspace who can be added (null for anyone else). Throws 404 for
 * non-members of the project who do not own the workspace.
 */
export async function listProjectMembers(tx: Tx, actor: Actor, projectId: string) {
  const role = await roleIn(tx, actor, projectId);
  const { workspaceId } = actor;
  const places = await tx.em.find(Place, { workspaceId, projectId: lookupId(projectId) });
  const roles = new Map(places.map((place) => [place.memberId, place.role]));
  const members = await tx.em.find(Member, { workspaceId, id: anyOf([...roles.keys()]) }, { orderBy: { email: 'asc' } });
  const items = members.map(({ id, email, name }): ProjectMember => ({ ...{ id, email, name: name ?? null }, role: roles.get(id)! }));
  return { items, candidates: role === 'owner' ? await listCandidates(tx, actor) : null };
}

async function listCandidates(tx: Tx, { workspaceId }: Actor): Promise<Omit<ProjectMember, 'role'>[]> {
  const members = await tx.em.find(Member, { workspaceId, status: 'active' }, { orderBy: { email: 'asc' }, limit: 1000 });
  return members.map(({ id, email, name }) => ({ id, email, name: name ?? null }));
}

/**
 * Gives a member a role in a project; 'none' removes the member. Throws 404, and 403 unless the actor owns the project or the workspace.
 */
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
  const place = { projectId, memberId: member, workspaceId: actor.workspaceId };
  if (role === 'none') await tx.em.nativeDelete(Place, place);
  else await tx.em.upsert(Place, { ...place, role }, { onConflictMergeFields: ['role'] });
  await audit(tx, actor, 'project.member', projectId);
}

/** The actor's role in a project; owners of the workspace own its projects. Throws 404 for non-members. */
async function roleIn(tx: Tx, actor: Actor, projectId: string): Promise<ProjectRole> {
  const { workspaceId, memberId } = actor;
  const id = lookupId(projectId);
  const project = await tx.em.findOne(ProjectEntity, { workspaceId, id });
  const place = memberId === null ? null : await tx.em.findOne(Place, { workspaceId, projectId: id, memberId }, { refresh: true });
  const role = actor.role === 'owner' ? 'owner' : place?.role;
  if (!project || !role) throw notFound();
  return role;
}
