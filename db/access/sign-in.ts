import { Member } from '../postgres/entities/member.ts';
import { Invitation, SignInBinding } from '../postgres/entities/sign-in.ts';
import type { Tx } from '../postgres/orm.ts';
import { OPEN } from '../tenants/invitations.ts';
import { auditEntrant } from './audit.ts';
import type { Entrant } from './sessions.ts';

/** A person as identified by a sign-in provider. */
export interface ProviderIdentity {
  issuer: string;
  /** The provider's id of the person, which is never reassigned. */
  subject: string;
  /** Verified by the provider. */
  email: string;
}

/** A workspace that a person may enter. */
export interface Door {
  workspaceId: string;
  workspaceName: string;
  memberId: string;
  /** False: the address was added there, and the person has not accepted yet. */
  accepted: boolean;
}

/**
 * The workspaces that a person may enter: those with a member bound to this identity, and those where a trusted address awaits its owner;
 * last, those that invited or added the address, which require the person's consent. A member bound to another identity of this provider is
 * excluded.
 */
export async function findDoors(tx: Tx, { issuer, subject, email }: ProviderIdentity): Promise<Door[]> {
  // SQL: three ways into a workspace, each by an index, in one order
  const rows = await tx.rows<{ workspace_id: string; name: string; member_id: string; accepted: boolean }>(
    `select w.id as workspace_id, w.name, m.id as member_id, (b.subject is not null or (m.status = 'active' and m.email_trusted)) as accepted
     from members m join workspaces w on w.id = m.workspace_id and w.deleted_at is null
     left join sign_in_bindings b on b.member_id = m.id and b.issuer = ?
     where (b.subject is null or b.subject = ?) and m.id in (
       select s.member_id from sign_in_bindings s join members bound on bound.id = s.member_id and bound.status = 'active' where s.issuer = ? and s.subject = ?
       union all select a.id from members a where a.email_lower = lower(?) and a.status = 'active'
       union all select q.id from members q join invitations i on i.member_id = q.id and ${OPEN} where q.email_lower = lower(?) and q.status = 'pending')
     order by accepted desc, lower(w.name), w.id limit 100`,
    [issuer, subject, issuer, subject, email, email],
  );
  return rows.map((row) => ({ workspaceId: row.workspace_id, workspaceName: row.name, memberId: row.member_id, accepted: row.accepted }));
}

/** Lets a person in: binds the member to them and accepts an invitation. Null if they may not enter. */
export async function enter(tx: Tx, identity: ProviderIdentity, workspaceId: string): Promise<Entrant | null> {
  const door = (await findDoors(tx, identity)).find((each) => each.workspaceId === workspaceId);
  if (!door) return null;
  const { memberId } = door;
  const { issuer, subject } = identity;
  const used = { memberId, issuer, workspaceId, subject, lastUsedAt: new Date() };
  await tx.em.upsert(SignInBinding, used, { onConflictMergeFields: ['lastUsedAt'], disableIdentityMap: true });
  const bound = await tx.em.count(SignInBinding, { memberId, issuer, subject }); // no other person at the same moment
  const there = { id: memberId, workspaceId, status: { $ne: 'removed' } } as const;
  if (!bound || !(await tx.em.nativeUpdate(Member, there, { status: 'active' }))) return null;
  const invitations = await tx.em.find(Invitation, { workspaceId, memberId, acceptedAt: null });
  for (const invitation of invitations) invitation.acceptedAt = new Date();
  await tx.em.flush();
  for (const { id } of invitations) await auditEntrant(tx, door, 'invitation.accept', id);
  return { workspaceId, memberId, vouched: true };
}
