import type { Scope } from '../../api/contract/workspace.ts';
import type { Tx } from '../postgres/orm.ts';
import { lookupId, type Viewer } from '../tenants/visibility.ts';
import { stamp } from '../transcripts/list-row.ts';
import { hashOf, newKey } from './keys.ts';

const OWN = '(? or k.member_id = ?)'; // owners see the keys of all

/** Keys without their secrets: a member's own, for an owner those of everybody. Newest first. */
export function listKeys(tx: Tx, viewer: Viewer) {
  return tx.rows(
    `select k.id, k.name, k.hint, to_json(k.scopes) as scopes, ${stamp('k.expires_at')} as expires_at,
       ${stamp('k.revoked_at')} as revoked_at, ${stamp('k.created_at')} as created_at, ${stamp('k.last_used_at')} as last_used_at,
       json_build_object('id', m.id, 'email', m.email) as member
     from api_keys k join members m on m.id = k.member_id
     where k.workspace_id = ? and ${OWN} order by k.revoked_at is not null, k.created_at desc`,
    [viewer.workspaceId, viewer.role === 'owner', viewer.memberId],
  );
}

/** Makes a key of this member. The secret is in the answer and nowhere else. */
export async function addKey(tx: Tx, viewer: Viewer, wish: { name: string | null; scopes: readonly Scope[]; expiresAt: string | null }) {
  const key = newKey();
  const row = await tx.row<{ id: string; expires_at: string | null }>(
    `insert into api_keys (workspace_id, member_id, hash, hint, name, scopes, expires_at)
     values (?, ?, ?, ?, ?, array(select json_array_elements_text(?::json)), ?) returning id, ${stamp('expires_at')} as expires_at`,
    [viewer.workspaceId, viewer.memberId, hashOf(key), key.slice(-4), wish.name, JSON.stringify(wish.scopes), wish.expiresAt],
  );
  return { id: row!.id, key, name: wish.name, scopes: wish.scopes, expires_at: row!.expires_at };
}

/** False when this person has no such key. */
export async function revokeKey(tx: Tx, viewer: Viewer, id: string): Promise<boolean> {
  const row = await tx.row(
    `update api_keys k set revoked_at = coalesce(k.revoked_at, now()) where k.workspace_id = ? and k.id = ? and ${OWN} returning k.id`,
    [viewer.workspaceId, lookupId(id), viewer.role === 'owner', viewer.memberId],
  );
  return row !== null;
}
