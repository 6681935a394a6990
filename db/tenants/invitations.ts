import { type Actor, causeOf, requireOwner } from '../../api/contract/actor.ts';
import { invalid, notFound } from '../../api/contract/errors.ts';
import type { Role } from '../../api/contract/workspace.ts';
import { audit, auditEntrant } from '../access/audit.ts';
import { causeInForce, hashOf } from '../access/credentials.ts';
import { type Entrant, newSecret } from '../access/sessions.ts';
import type { Tx } from '../postgres/orm.ts';
import { stamp } from '../transcripts/list-row.ts';
import { addMember, changeMember } from './members.ts';
import { lookupId } from './visibility.ts';

const DAYS = 7;

export interface InvitationRow {
  id: string;
  member_id: string;
  email: string;
  name: string | null;
  role: Role;
  created_at: string;
  expires_at: string;
  /** Null: the operator. */
  invited_by: { id: string; email: string } | null;
}

export interface NewInvitation {
  email: string;
  name?: string;
  role?: Role;
}

/** SQL: not accepted, not over, and the key it came from is in force. */
export const OPEN = `i.accepted_at is null and i.expires_at > now() and ${causeInForce('i.key_id')}`;

/**
 * Invites a person, who is a pending member until they accept; invited again, the link from before ends. The secret is for the link and nowhere else. Throws
 * `validation_error` when the address is a member's already.
 */
export async function invite(tx: Tx, actor: Actor, { email, name, role = 'user' }: NewInvitation) {
  requireOwner(actor);
  const known = await tx.row<{ id: string; status: string }>(
    `select id, status from members where workspace_id = ? and lower(email) = lower(?) and status <> 'removed' for update`,
    [actor.workspaceId, email.trim()],
  );
  if (known?.status === 'active') throw invalid([{ field: 'email', message: `There is a member with the address ${email} already` }]);
  const member = known
    ? await changeMember(tx, actor, known.id, { role, ...(name && { name }) })
    : await addMember(tx, actor, { email, name, role, pending: true });
  await tx.rows('delete from invitations where workspace_id = ? and member_id = ? and accepted_at is null', [actor.workspaceId, member.id]);
  const secret = newSecret();
  const row = await tx.row<{ id: string; expires_at: string }>(
    `insert into invitations (workspace_id, member_id, hash, invited_by, key_id, expires_at)
     values (?, ?, ?, ?, ?, now() + make_interval(days => ?)) returning id, ${stamp('expires_at')} as expires_at`,
    [actor.workspaceId, member.id, hashOf(secret), actor.memberId, causeOf(actor), DAYS],
  );
  await audit(tx, actor, 'invitation.create', row!.id);
  return { id: row!.id, member_id: member.id, email: member.email, role: member.role, expires_at: row!.expires_at, secret };
}

/** Invitations that wait for an answer, newest first. */
export function listInvitations(tx: Tx, actor: Actor): Promise<InvitationRow[]> {
  requireOwner(actor);
  return tx.rows<InvitationRow>(
    `select i.id, i.member_id, m.email, m.name, m.role, ${stamp('i.created_at')} as created_at, ${stamp('i.expires_at')} as expires_at,
       case when b.id is not null then json_build_object('id', b.id, 'email', b.email) end as invited_by
     from invitations i join members m on m.id = i.member_id left join members b on b.id = i.invited_by
     where i.workspace_id = ? and ${OPEN} order by i.created_at desc, i.id limit 1000`,
    [actor.workspaceId],
  );
}

/** Takes an invitation back, with the pending membership. Throws 404, also when it was accepted. */
export async function revokeInvitation(tx: Tx, actor: Actor, id: string): Promise<void> {
  requireOwner(actor);
  const row = await tx.row<{ member_id: string }>(
    'delete from invitations where workspace_id = ? and id = ? and accepted_at is null returning member_id',
    [actor.workspaceId, lookupId(id)],
  );
  if (!row) throw notFound();
  await tx.rows(`update members set status = 'removed', removed_at = now() where workspace_id = ? and id = ? and status = 'pending'`, [
    actor.workspaceId,
    row.member_id,
  ]);
  await audit(tx, actor, 'invitation.revoke', id);
}

/**
 * Accepts an invitation by the secret of its link: the member is active. That proves the link and not the address, so it lets nobody in by e-mail later. Null when
 * the invitation is unknown, over, taken back or accepted before. The transaction acts for the installation.
 */
export async function acceptInvitation(tx: Tx, secret: string): Promise<Entrant | null> {
  const row = await tx.row<{ workspace_id: string; member_id: string; key_id: string | null; id: string }>(
    `update invitations i set accepted_at = now() where i.hash = ? and ${OPEN} returning i.id, i.workspace_id, i.member_id, i.key_id`,
    [hashOf(secret)],
  );
  if (!row) return null;
  const member = await tx.row(
    `update members set status = 'active' where id = ? and workspace_id = ? and status <> 'removed' returning 1`,
    [row.member_id, row.workspace_id],
  );
  if (!member) return null;
  const entrant = { workspaceId: row.workspace_id, memberId: row.member_id, keyId: row.key_id };
  await auditEntrant(tx, entrant, 'invitation.accept', row.id);
  return entrant;
}
