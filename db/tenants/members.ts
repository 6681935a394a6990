import { type Actor, requireOwner } from '../../api/contract/actor.ts';
import { ApiError, invalid } from '../../api/contract/errors.ts';
import { LIMITS } from '../../api/contract/limits.ts';
import type { Identity, Member, Role } from '../../api/contract/workspace.ts';
import { audit } from '../access/audit.ts';
import type { Tx } from '../postgres/orm.ts';
import { isTaken } from '../postgres/unique.ts';
import { stamp } from '../transcripts/list-row.ts';
import { lookupId } from './visibility.ts';

export interface MemberRow {
  id: string;
  email: string;
  name: string | null;
  role: Role;
  status: 'active' | 'pending' | 'removed';
}

/** Active members with their identities, oldest first, at most LIMITS.MEMBERS_LISTED. */
export function listMembers(tx: Tx, actor: Actor): Promise<Member[]> {
  return tx.rows<{ id: string; email: string; name: string | null; role: Role; identities: Identity[] }>(
    `select m.id, m.email, m.name, m.role, coalesce(
       (select json_agg(json_build_object('provider', i.provider, 'external_id', i.external_id) order by i.provider, i.external_id)
        from identities i where i.workspace_id = m.workspace_id and i.member_id = m.id), '[]') as identities
     from members m where m.workspace_id = ? and m.status = 'active'
     order by m.created_at, m.id limit ?`,
    [actor.workspaceId, LIMITS.MEMBERS_LISTED],
  );
}

/** Invited people who have not come yet. */
export function listPendingMembers(tx: Tx, actor: Actor) {
  requireOwner(actor);
  return tx.rows<{ id: string; email: string; name: string | null; role: Role; created_at: string }>(
    `select m.id, m.email, m.name, m.role, ${stamp('m.created_at')} as created_at from members m
     where m.workspace_id = ? and m.status = 'pending' order by m.created_at, m.id limit 1000`,
    [actor.workspaceId],
  );
}

/** The active member's id. Throws 404 `member_not_found` for any other id, a malformed one included. Holds the row against removal. */
export function activeMember(tx: Tx, workspaceId: string, memberId: string): Promise<string> {
  return findMember(tx, workspaceId, memberId, `status = 'active'`);
}

/** The same for a member who may be pending. */
export function existingMember(tx: Tx, workspaceId: string, memberId: string): Promise<string> {
  return findMember(tx, workspaceId, memberId, `status <> 'removed'`);
}

async function findMember(tx: Tx, workspaceId: string, memberId: string, condition: string): Promise<string> {
  const sql = `select m.id from members m where m.workspace_id = ? and m.id = ? and m.${condition} for share`;
  const row = await tx.row<{ id: string }>(sql, [workspaceId, lookupId(memberId)]);
  if (!row) throw new ApiError('member_not_found');
  return row.id;
}

export interface NewMember {
  email: string;
  name?: string;
  role?: Role;
  pending?: boolean;
}

/**
 * Adds a person. Throws `validation_error` when the address is taken. An owner may name any address, so nobody who signs in with it elsewhere is let in here unless
 * they accept; the operator's word is trusted.
 */
export async function addMember(tx: Tx, actor: Actor, { email, name, role = 'user', pending = false }: NewMember): Promise<MemberRow> {
  requireOwner(actor);
  const trusted = actor.kind === 'operator';
  const sql =
    'insert into members (workspace_id, email, name, role, status, email_trusted) values (?, ?, ?, ?, ?, ?) returning id, email, role, status';
  try {
    const row = await tx.row<MemberRow>(sql, [
      actor.workspaceId,
      email.trim(),
      name ?? null,
      role,
      pending ? 'pending' : 'active',
      trusted,
    ]);
    await audit(tx, actor, 'member.add', row!.id);
    return row!;
  } catch (error) {
    if (isTaken('address', error)) throw invalid([{ field: 'email', message: `There is a member with the address ${email} already` }]);
    throw error;
  }
}

export interface MemberChange {
  name?: string | null;
  role?: Role;
  status?: 'active';
}

/** Changes name, role or status of a member who has not left. Throws `member_not_found`. */
export async function changeMember(tx: Tx, actor: Actor, memberId: string, change: MemberChange): Promise<MemberRow> {
  requireOwner(actor);
  if (change.role === 'user') await keepOwner(tx, actor, memberId);
  const row = await tx.row<MemberRow>(
    `update members set name = case when ? then ? else name end, role = coalesce(?, role), status = coalesce(?, status)
     where workspace_id = ? and id = ? and status <> 'removed' returning id, email, name, role, status`,
    [change.name !== undefined, change.name ?? null, change.role ?? null, change.status ?? null, actor.workspaceId, lookupId(memberId)],
  );
  if (!row) throw new ApiError('member_not_found');
  await audit(tx, actor, 'member.change', row.id);
  return row;
}

/**
 * Ends a membership: keys and tokens stop working, identities and places in projects go; transcriptions stay and keep their author. Throws
 * `member_not_found`.
 */
export async function removeMember(tx: Tx, actor: Actor, memberId: string): Promise<MemberRow> {
  requireOwner(actor);
  await keepOwner(tx, actor, memberId);
  const row = await tx.row<MemberRow>(
    `update members set status = 'removed', removed_at = now() where workspace_id = ? and id = ? and status <> 'removed'
     returning id, email, name, role, status`,
    [actor.workspaceId, lookupId(memberId)],
  );
  if (!row) throw new ApiError('member_not_found');
  for (const table of ['identities', 'project_members', 'sessions', 'sign_in_links', 'sign_in_bindings', 'invitations', 'oauth_codes'])
    await tx.rows(`delete from ${table} where workspace_id = ? and member_id = ?`, [actor.workspaceId, row.id]);
  for (const table of ['api_keys', 'oauth_tokens'])
    await tx.rows(`update ${table} set revoked_at = now() where workspace_id = ? and member_id = ? and revoked_at is null`, [
      actor.workspaceId,
      row.id,
    ]);
  await audit(tx, actor, 'member.remove', row.id);
  return row;
}

/** The workspace must keep an active owner, unless the operator wants it otherwise; the rows of all owners are held until the transaction ends. */
async function keepOwner(tx: Tx, actor: Actor, leaving: string): Promise<void> {
  if (actor.kind === 'operator') return;
  const owners = await tx.rows<{ id: string }>(
    `select id from members where workspace_id = ? and role = 'owner' and status = 'active' order by id for update`,
    [actor.workspaceId],
  );
  if (owners.length === 1 && owners[0]!.id === leaving.toLowerCase()) {
    throw invalid([{ field: 'member', message: 'is the last owner of the workspace; make somebody else an owner first' }]);
  }
}
