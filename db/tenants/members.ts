import { ApiError } from '../../api/contract/errors.ts';
import { LIMITS } from '../../api/contract/limits.ts';
import type { Identity, Member, Role } from '../../api/contract/workspace.ts';
import type { Tx } from '../postgres/orm.ts';
import { lookupId } from './visibility.ts';

/** How a caller names a member. */
export type AuthorRef =
  | { kind: 'email'; email: string }
  | { kind: 'user'; id: string }
  | { kind: 'external'; provider: string; externalId: string };

export interface AuthorRow {
  id: string;
  email: string;
  name: string | null;
}

/** The active member of this workspace that `ref` names, or null: unknown, foreign, pending, removed and unlinked cannot be told apart. */
export function findAuthor(tx: Tx, workspaceId: string, ref: AuthorRef): Promise<AuthorRow | null> {
  const [sql, parameters] = naming(ref);
  if (parameters.some((value) => value.includes('\0'))) return Promise.resolve(null);
  return tx.row<AuthorRow>(
    `select m.id, m.email, m.name from members m where m.workspace_id = ? and m.status = 'active' and ${sql} limit 1`,
    [workspaceId, ...parameters],
  );
}

function naming(ref: AuthorRef): [string, string[]] {
  switch (ref.kind) {
    case 'email':
      return ['lower(m.email) = lower(?)', [ref.email.trim()]];
    case 'user':
      return ['m.id = ?', [lookupId(ref.id)]];
    case 'external':
      return [
        'm.id in (select i.member_id from identities i where i.workspace_id = m.workspace_id and i.provider = ? and i.external_id = ?)',
        [ref.provider.toLowerCase(), ref.externalId],
      ];
  }
}

/** Active members with their identities, oldest first, at most LIMITS.MEMBERS_LISTED. */
export function listMembers(tx: Tx, workspaceId: string): Promise<Member[]> {
  return tx.rows<{ id: string; email: string; name: string | null; role: Role; identities: Identity[] }>(
    `select m.id, m.email, m.name, m.role, coalesce(
       (select json_agg(json_build_object('provider', i.provider, 'external_id', i.external_id) order by i.provider, i.external_id)
        from identities i where i.workspace_id = m.workspace_id and i.member_id = m.id), '[]') as identities
     from members m where m.workspace_id = ? and m.status = 'active'
     order by m.created_at, m.id limit ?`,
    [workspaceId, LIMITS.MEMBERS_LISTED],
  );
}

/** The active member's id. Throws 404 `member_not_found` for any other id, a malformed one included. Holds the row against removal. */
export async function activeMember(tx: Tx, workspaceId: string, memberId: string): Promise<string> {
  const row = await tx.row<{ id: string }>(
    `select m.id from members m where m.workspace_id = ? and m.id = ? and m.status = 'active' for share`,
    [workspaceId, lookupId(memberId)],
  );
  if (!row) throw new ApiError('member_not_found');
  return row.id;
}

/** Links an identity to a member: true when it is new, false when it was linked already. Throws `identity_conflict` when another has it. */
export async function linkIdentity(tx: Tx, workspaceId: string, memberId: string, identity: Identity): Promise<boolean> {
  const row = await tx.row<{ member_id: string; created: boolean }>(
    `insert into identities (workspace_id, member_id, provider, external_id) values (?, ?, ?, ?)
     on conflict (workspace_id, provider, external_id) do update set provider = excluded.provider
     returning member_id, xmax = 0 as created`,
    [workspaceId, memberId, identity.provider, identity.external_id],
  );
  if (row!.member_id !== memberId) throw new ApiError('identity_conflict');
  return row!.created;
}

/** Unlinks an identity. Throws 404 `identity_not_found` when this member does not have it. */
export async function unlinkIdentity(tx: Tx, workspaceId: string, memberId: string, identity: Identity): Promise<void> {
  const gone =
    identity.external_id.includes('\0') || identity.provider.includes('\0')
      ? null
      : await tx.row(
          'delete from identities i where i.workspace_id = ? and i.member_id = ? and i.provider = ? and i.external_id = ? returning i.id',
          [workspaceId, memberId, identity.provider.toLowerCase(), identity.external_id],
        );
  if (!gone) throw new ApiError('identity_not_found');
}
