import { randomUUID } from 'node:crypto';
import { type Actor, causeOf, requireOwner } from '../../api/contract/actor.ts';
import { invalid, notFound } from '../../api/contract/errors.ts';
import type { Role } from '../../api/contract/workspace.ts';
import { audit, auditEntrant } from '../access/audit.ts';
import { causeInForce, fromKeyInForce, hashOf, isKeyInForce } from '../access/credentials.ts';
import { type Entrant, newSecret } from '../access/sessions.ts';
import { Member } from '../postgres/entities/member.ts';
import { Invitation } from '../postgres/entities/sign-in.ts';
import { anyOf, fromNow, HELD, lower, lowered, now } from '../postgres/expressions.ts';
import type { Tx } from '../postgres/orm.ts';
import { addMember, changeMember, findPeople } from './members.ts';
import { lookupId } from './visibility.ts';

const SECONDS = 7 * 86_400;

export interface InvitationRow {
  id: string;
  member_id: string;
  email: string;
  name: string | null;
  role: Role;
  created_at: string;
  expires_at: string;
  /** Inviting member; null: the operator. */
  invited_by: { id: string; email: string } | null;
}

export interface NewInvitation {
  email: string;
  name?: string;
  role?: Role;
}

/** SQL: the invitation is neither accepted nor expired, and its originating key is valid. The same for entities follows. */
export const OPEN = `i.accepted_at is null and i.expires_at > now() and ${causeInForce('i.key_id')}`;
const stillOpen = () => ({ acceptedAt: null, expiresAt: { $gt: now() }, ...fromKeyInForce() });

/**
 * Invites a person, who is a pending member until they accept; another invitation invalidates the previous link. The secret is for the link
 * only. Throws `validation_error` if the address already belongs to a member.
 */
export async function invite(tx: Tx, actor: Actor, { email, name, role = 'user' }: NewInvitation) {
  requireOwner(actor);
  const { workspaceId } = actor;
  const address = { [lowered('email')]: lower(email.trim()) };
  const known = await tx.em.findOne(Member, { workspaceId, status: { $ne: 'removed' }, ...address }, HELD);
  if (known?.status === 'active') throw invalid([{ field: 'email', message: `There is a member with the address ${email} already` }]);
  const member = known
    ? await changeMember(tx, actor, known.id, { role, ...(name && { name }) })
    : await addMember(tx, actor, { email, name, role, pending: true });
  await tx.em.nativeDelete(Invitation, { workspaceId, memberId: member.id, acceptedAt: null });
  const [id, secret] = [randomUUID(), newSecret()];
  const from = { invitedBy: actor.memberId, keyId: causeOf(actor) };
  await tx.em.insert(Invitation, { id, workspaceId, memberId: member.id, hash: hashOf(secret), ...from, expiresAt: fromNow(SECONDS) });
  const { expiresAt } = await tx.em.findOneOrFail(Invitation, { id });
  await audit(tx, actor, 'invitation.create', id);
  return { id, member_id: member.id, email: member.email, role: member.role, expires_at: expiresAt.toISOString(), secret };
}

/** Open invitations, newest first. */
export async function listInvitations(tx: Tx, actor: Actor): Promise<InvitationRow[]> {
  requireOwner(actor);
  const { workspaceId } = actor;
  const order = { createdAt: 'desc', id: 'asc' } as const;
  const found = await tx.em.find(Invitation, { workspaceId, ...stillOpen() }, { orderBy: order, limit: 1000 });
  const invited = await tx.em.find(Member, { workspaceId, id: anyOf(found.map(({ memberId }) => memberId)) });
  const members = new Map(invited.map((member) => [member.id, member]));
  const inviters = await findPeople(
    tx,
    workspaceId,
    found.flatMap(({ invitedBy }) => invitedBy ?? []),
  );
  return found.map(({ id, memberId, invitedBy, createdAt, expiresAt }) => {
    const { email, name, role } = members.get(memberId)!;
    return {
      ...{ id, member_id: memberId, email, name: name ?? null, role },
      ...{ created_at: createdAt.toISOString(), expires_at: expiresAt.toISOString() },
      invited_by: inviters.get(invitedBy ?? '') ?? null,
    };
  });
}

/** Revokes an invitation and its pending membership. Throws 404, also if it was accepted. */
export async function revokeInvitation(tx: Tx, actor: Actor, id: string): Promise<void> {
  requireOwner(actor);
  const { workspaceId } = actor;
  const invitation = await tx.em.findOne(Invitation, { workspaceId, id: lookupId(id), acceptedAt: null }, HELD);
  if (!invitation) throw notFound();
  await tx.em.nativeDelete(Invitation, { id: invitation.id });
  const pending = { workspaceId, id: invitation.memberId, status: 'pending' } as const;
  await tx.em.nativeUpdate(Member, pending, { status: 'removed', removedAt: now() });
  await audit(tx, actor, 'invitation.revoke', id);
}

/**
 * Accepts an invitation by the secret of its link and activates the member. This proves possession of the link but not of the address, so
 * it does not allow later sign-in by e-mail. Null if the invitation is unknown, expired, revoked or already accepted. The transaction acts
 * for the installation.
 */
export async function acceptInvitation(tx: Tx, secret: string): Promise<Entrant | null> {
  const invitation = await tx.em.findOne(Invitation, { hash: hashOf(secret), acceptedAt: null, expiresAt: { $gt: now() } }, HELD);
  if (!invitation || !(await isKeyInForce(tx, invitation.keyId ?? null))) return null;
  const { id, workspaceId, memberId } = invitation;
  invitation.acceptedAt = new Date();
  await tx.em.flush();
  if (!(await tx.em.nativeUpdate(Member, { id: memberId, workspaceId, status: { $ne: 'removed' } }, { status: 'active' }))) return null;
  const entrant = { workspaceId, memberId, keyId: invitation.keyId ?? null };
  await auditEntrant(tx, entrant, 'invitation.accept', id);
  return entrant;
}
