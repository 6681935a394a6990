import { type Actor, requireOwner } from '../../api/contract/actor.ts';
import { ApiError, invalid } from '../../api/contract/errors.ts';
import { LIMITS } from '../../api/contract/limits.ts';
import type { Identity, Member, Role } from '../../api/contract/workspace.ts';
import { audit } from '../access/audit.ts';
import { ApiKey, Identity as IdentityEntity, Member as MemberEntity, ProjectMember } from '../postgres/entities/member.ts';
import { OauthCode, OauthToken, Session, SignInLink } from '../postgres/entities/oauth.ts';
import { Invitation, SignInBinding } from '../postgres/entities/sign-in.ts';
import { anyOf, HELD, KEPT, now, type OfMember } from '../postgres/expressions.ts';
import type { Tx } from '../postgres/orm.ts';
import { isTaken } from '../postgres/unique.ts';
import { lookupId } from './visibility.ts';

export interface MemberRow {
  id: string;
  email: string;
  name: string | null;
  role: Role;
  status: 'active' | 'pending' | 'removed';
}

const LEFT = 'removed';
const shown = ({ id, email, name, role, status }: Omit<MemberRow, 'name'> & { name?: string | null }): MemberRow => ({
  ...{ id, email, name: name ?? null, role, status },
});

/** Active members with their identities, oldest first, at most LIMITS.MEMBERS_LISTED. */
export async function listMembers(tx: Tx, { workspaceId }: Actor): Promise<Member[]> {
  const order = { createdAt: 'asc', id: 'asc' } as const;
  const members = await tx.em.find(MemberEntity, { workspaceId, status: 'active' }, { orderBy: order, limit: LIMITS.MEMBERS_LISTED });
  const linked = await tx.em.find(
    IdentityEntity,
    { workspaceId, memberId: anyOf(members.map(({ id }) => id)) },
    { orderBy: { provider: 'asc', externalId: 'asc' } },
  );
  const identities = new Map<string, Identity[]>(members.map(({ id }) => [id, []]));
  for (const { memberId, provider, externalId } of linked) identities.get(memberId)?.push({ provider, external_id: externalId });
  return members.map(({ id, email, name, role }) => ({ ...{ id, email, name: name ?? null, role }, identities: identities.get(id) ?? [] }));
}

/** Invited people who have not accepted yet. */
export async function listPendingMembers(tx: Tx, actor: Actor) {
  requireOwner(actor);
  const { workspaceId } = actor;
  const order = { createdAt: 'asc', id: 'asc' } as const;
  const members = await tx.em.find(MemberEntity, { workspaceId, status: 'pending' }, { orderBy: order, limit: 1000 });
  return members.map(({ createdAt, ...member }) => {
    const { id, email, name, role } = shown(member);
    return { id, email, name, role, created_at: createdAt.toISOString() };
  });
}

/** Members by id, including removed ones. */
export async function findPeople(tx: Tx, workspaceId: string, ids: readonly string[]): Promise<Map<string, { id: string; email: string }>> {
  const members = await tx.em.find(MemberEntity, { workspaceId, id: anyOf(ids) }, { fields: ['id', 'email'] });
  return new Map(members.map(({ id, email }) => [id, { id, email }]));
}

/** The id of an active member. Throws 404 `member_not_found` for any other id, including a malformed one. Locks the row against removal. */
export function activeMember(tx: Tx, workspaceId: string, memberId: string): Promise<string> {
  return findMember(tx, workspaceId, memberId, { status: 'active' });
}

/** The same, but the member may be pending. */
export function existingMember(tx: Tx, workspaceId: string, memberId: string): Promise<string> {
  return findMember(tx, workspaceId, memberId, { status: { $ne: LEFT } });
}

async function findMember(tx: Tx, workspaceId: string, memberId: string, status: { status: 'active' | { $ne: 'removed' } }) {
  const member = await tx.em.findOne(MemberEntity, { workspaceId, id: lookupId(memberId), ...status }, KEPT);
  if (!member) throw new ApiError('member_not_found');
  return member.id;
}

export interface NewMember {
  email: string;
  name?: string;
  role?: Role;
  pending?: boolean;
}

/**
 * Adds a person. Throws `validation_error` if the address is taken. An owner may enter any address, so a person who signs in with it
 * elsewhere must accept first; addresses entered by the operator are trusted.
 */
export async function addMember(tx: Tx, actor: Actor, { email, name, role = 'user', pending = false }: NewMember): Promise<MemberRow> {
  requireOwner(actor);
  const member = tx.em.create(MemberEntity, {
    ...{ workspaceId: actor.workspaceId, email: email.trim(), name: name ?? null, role },
    ...{ status: pending ? 'pending' : 'active', emailTrusted: actor.kind === 'operator' },
  });
  try {
    await tx.em.flush();
  } catch (error) {
    if (isTaken('address', error)) throw invalid([{ field: 'email', message: `There is a member with the address ${email} already` }]);
    throw error;
  }
  await audit(tx, actor, 'member.add', member.id);
  return shown(member);
}

export interface MemberChange {
  name?: string | null;
  role?: Role;
  status?: 'active';
}

/** Changes name, role or status of a member who was not removed. Throws `member_not_found`. */
export async function changeMember(tx: Tx, actor: Actor, memberId: string, { name, role, status }: MemberChange): Promise<MemberRow> {
  requireOwner(actor);
  if (role === 'user') await keepOwner(tx, actor, memberId);
  const member = await hold(tx, actor, memberId);
  if (name !== undefined) member.name = name;
  if (role) member.role = role;
  if (status) member.status = status;
  await tx.em.flush();
  await audit(tx, actor, 'member.change', member.id);
  return shown(member);
}

/** Tables whose rows of a member are deleted when the membership ends. */
const GONE_WITH_MEMBER = [IdentityEntity, ProjectMember, Session, SignInLink, SignInBinding, Invitation, OauthCode];

/**
 * Ends a membership: keys and tokens stop working, identities and project memberships are deleted; transcriptions stay and keep their
 * author. Throws `member_not_found`.
 */
export async function removeMember(tx: Tx, actor: Actor, memberId: string): Promise<MemberRow> {
  requireOwner(actor);
  await keepOwner(tx, actor, memberId);
  const member = await hold(tx, actor, memberId);
  member.status = LEFT;
  member.removedAt = new Date();
  await tx.em.flush();
  const own = { workspaceId: actor.workspaceId, memberId: member.id };
  for (const table of GONE_WITH_MEMBER) await tx.em.nativeDelete(table as OfMember, own);
  await tx.em.nativeUpdate(ApiKey, { ...own, revokedAt: null }, { revokedAt: now() });
  await tx.em.nativeUpdate(OauthToken, { ...own, revokedAt: null }, { revokedAt: now() });
  await audit(tx, actor, 'member.remove', member.id);
  return shown(member);
}

/** Locks a member who was not removed. Throws `member_not_found`. */
async function hold(tx: Tx, { workspaceId }: Actor, memberId: string) {
  const member = await tx.em.findOne(MemberEntity, { workspaceId, id: lookupId(memberId), status: { $ne: LEFT } }, HELD);
  if (!member) throw new ApiError('member_not_found');
  return member;
}

/**
 * Ensures that the workspace keeps an active owner, unless the operator decides otherwise; locks the rows of all owners until the
 * transaction ends.
 */
async function keepOwner(tx: Tx, { kind, workspaceId }: Actor, leaving: string): Promise<void> {
  if (kind === 'operator') return;
  const owners = await tx.em.find(MemberEntity, { workspaceId, role: 'owner', status: 'active' }, { ...HELD, orderBy: { id: 'asc' } });
  if (owners.length === 1 && owners[0]!.id === leaving.toLowerCase()) {
    throw invalid([{ field: 'member', message: 'is the last owner of the workspace; make somebody else an owner first' }]);
  }
}
