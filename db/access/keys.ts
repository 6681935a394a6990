import { type Actor, requireFullRights } from '../../api/contract/actor.ts';
import { forbidden, invalid, notFound } from '../../api/contract/errors.ts';
import type { Scope } from '../../api/contract/workspace.ts';
import type { Tx } from '../postgres/orm.ts';
import { existingMember } from '../tenants/members.ts';
import { lookupId } from '../tenants/visibility.ts';
import { stamp } from '../transcripts/list-row.ts';
import { hashOf, newKey } from './credentials.ts';

export interface KeyRow {
  id: string;
  name: string | null;
  /** The last characters, for people. */
  hint: string;
  scopes: Scope[];
  expires_at: string | null;
  revoked_at: string | null;
  created_at: string;
  last_used_at: string | null;
  member: { id: string; email: string };
}

const OWN = '(? or k.member_id = ?)'; // owners see the keys of all

/** Keys without their secrets: a member's own, for an owner those of everybody. Newest first, revoked ones last. */
export function listKeys(tx: Tx, actor: Actor): Promise<KeyRow[]> {
  requireFullRights(actor);
  return tx.rows<KeyRow>(
    `select k.id, k.name, k.hint, to_json(k.scopes) as scopes, ${stamp('k.expires_at')} as expires_at,
       ${stamp('k.revoked_at')} as revoked_at, ${stamp('k.created_at')} as created_at, ${stamp('k.last_used_at')} as last_used_at,
       json_build_object('id', m.id, 'email', m.email) as member
     from api_keys k join members m on m.id = k.member_id
     where k.workspace_id = ? and ${OWN} order by k.revoked_at is not null, k.created_at desc`,
    [actor.workspaceId, actor.role === 'owner', actor.memberId],
  );
}

export interface NewKey {
  name?: string | null;
  scopes: readonly Scope[];
  expiresAt?: Date | null;
  /** Whose key it is, where the operator makes it; everybody else makes their own. */
  memberId?: string;
}

/** Makes a key. The secret is in the answer and nowhere else. */
export async function createKey(tx: Tx, actor: Actor, { name = null, scopes, expiresAt = null, memberId }: NewKey) {
  requireFullRights(actor);
  const owner = actor.kind === 'operator' ? await existingMember(tx, actor.workspaceId, memberId ?? '') : actor.memberId;
  if (memberId !== undefined && memberId !== owner) throw forbidden();
  if (scopes.includes('members:write') && actor.role !== 'owner')
    throw invalid([{ field: 'scopes', message: 'members:write can be given by owners of the workspace only' }]);
  const key = newKey();
  const row = await tx.row<{ id: string; expires_at: string | null }>(
    `insert into api_keys (workspace_id, member_id, hash, hint, name, scopes, expires_at)
     values (?, ?, ?, ?, ?, array(select json_array_elements_text(?::json)), ?) returning id, ${stamp('expires_at')} as expires_at`,
    [actor.workspaceId, owner, hashOf(key), key.slice(-4), name, JSON.stringify(scopes), expiresAt],
  );
  return { id: row!.id, key, name, scopes, expires_at: row!.expires_at };
}

/** Ends a key at once: one's own, for an owner anybody's. Throws 404. */
export async function revokeKey(tx: Tx, actor: Actor, id: string): Promise<void> {
  requireFullRights(actor);
  const row = await tx.row(
    `update api_keys k set revoked_at = coalesce(k.revoked_at, now()) where k.workspace_id = ? and k.id = ? and ${OWN} returning k.id`,
    [actor.workspaceId, lookupId(id), actor.role === 'owner', actor.memberId],
  );
  if (!row) throw notFound();
}
