import { type Actor, causeOf, requireFullRights, vouchesFor } from '../../api/contract/actor.ts';
import { forbidden, invalid, notFound } from '../../api/contract/errors.ts';
import type { Scope } from '../../api/contract/workspace.ts';
import type { Tx } from '../postgres/orm.ts';
import { existingMember } from '../tenants/members.ts';
import { lookupId } from '../tenants/visibility.ts';
import { stamp } from '../transcripts/list-row.ts';
import { audit } from './audit.ts';
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

/** Makes a key. The secret is in the answer and nowhere else. One that is made in a session which a key opened ends with that key. */
export async function createKey(tx: Tx, actor: Actor, { name = null, scopes, expiresAt = null, memberId }: NewKey) {
  requireFullRights(actor);
  const owner = actor.kind === 'operator' ? await existingMember(tx, actor.workspaceId, memberId ?? '') : actor.memberId;
  if (memberId !== undefined && memberId !== owner) throw forbidden();
  if (scopes.includes('members:write') && actor.role !== 'owner')
    throw invalid([{ field: 'scopes', message: 'members:write can be given by owners of the workspace only' }]);
  const key = newKey();
  const cause = causeOf(actor);
  const row = await tx.row<{ id: string; expires_at: string | null }>(
    `insert into api_keys (workspace_id, member_id, hash, hint, name, scopes, expires_at, parent_id, vouched)
     values (?, ?, ?, ?, ?, array(select json_array_elements_text(?::json)),
       least(?::timestamptz, (select parent.expires_at from api_keys parent where parent.id = ?::uuid)), ?, ?)
     returning id, ${stamp('expires_at')} as expires_at`,
    [
      ...[actor.workspaceId, owner, hashOf(key), key.slice(-4), name, JSON.stringify(scopes), expiresAt, cause, cause],
      vouchesFor(actor, owner),
    ],
  );
  await audit(tx, actor, 'key.create', row!.id);
  return { id: row!.id, key, name, scopes, expires_at: row!.expires_at };
}

/** Ends a key at once, one's own or for an owner anybody's, with all that came from it: keys, sessions, sign-in links, grants. Throws 404. */
export async function revokeKey(tx: Tx, actor: Actor, id: string): Promise<void> {
  requireFullRights(actor);
  const ended = await tx.rows<{ id: string }>(
    `with recursive ended (id) as (
       select k.id from api_keys k where k.workspace_id = ? and k.id = ? and ${OWN}
       union select child.id from api_keys child join ended on child.parent_id = ended.id where child.workspace_id = ?)
     update api_keys k set revoked_at = coalesce(k.revoked_at, now()) from ended where k.workspace_id = ? and k.id = ended.id returning k.id`,
    [actor.workspaceId, lookupId(id), actor.role === 'owner', actor.memberId, actor.workspaceId, actor.workspaceId],
  );
  if (!ended.length) throw notFound();
  await audit(tx, actor, 'key.revoke', id);
  const causes = [actor.workspaceId, ended.map((key) => key.id)];
  for (const table of ['sessions', 'sign_in_links', 'oauth_codes'])
    await tx.rows(`delete from ${table} where workspace_id = ? and key_id = any(?::uuid[])`, causes);
  await tx.rows(
    'update oauth_tokens set revoked_at = now() where workspace_id = ? and key_id = any(?::uuid[]) and revoked_at is null',
    causes,
  );
}
