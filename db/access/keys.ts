import { type Actor, causeOf, requireFullRights, vouchesFor } from '../../api/contract/actor.ts';
import { forbidden, invalid, notFound } from '../../api/contract/errors.ts';
import { OWNER_SCOPES, type Scope } from '../../api/contract/workspace.ts';
import { ApiKey } from '../postgres/entities/member.ts';
import { OauthCode, OauthToken, Session, SignInLink } from '../postgres/entities/oauth.ts';
import { anyOf, now, type OfKey } from '../postgres/expressions.ts';
import type { Tx } from '../postgres/orm.ts';
import { existingMember, findPeople } from '../tenants/members.ts';
import { lookupId } from '../tenants/visibility.ts';
import { audit } from './audit.ts';
import { hashOf, newKey } from './credentials.ts';

export interface KeyRow {
  id: string;
  name: string | null;
  /** The last characters, for display. */
  hint: string;
  scopes: Scope[];
  expires_at: string | null;
  revoked_at: string | null;
  created_at: string;
  last_used_at: string | null;
  member: { id: string; email: string };
}

/** Keys without their secrets: a member's own, for an owner all of the workspace. Newest first, revoked ones last. */
export async function listKeys(tx: Tx, actor: Actor): Promise<KeyRow[]> {
  requireFullRights(actor);
  const keys = await tx.em.find(ApiKey, ownedBy(actor), { orderBy: { createdAt: 'desc' } });
  const holders = keys.map(({ memberId }) => memberId);
  const people = await findPeople(tx, actor.workspaceId, holders);
  const rows = keys.map(
    ({ id, name, hint, scopes, expiresAt, revokedAt, createdAt, lastUsedAt, memberId }): KeyRow => ({
      ...{ id, name: name ?? null, hint, scopes: scopes as Scope[], expires_at: expiresAt?.toISOString() ?? null },
      ...{ revoked_at: revokedAt?.toISOString() ?? null, created_at: createdAt.toISOString() },
      ...{ last_used_at: lastUsedAt?.toISOString() ?? null, member: people.get(memberId)! },
    }),
  );
  return [...rows.filter((row) => !row.revoked_at), ...rows.filter((row) => row.revoked_at)];
}

/** Filter for an actor's own objects; for an owner, all of the workspace. */
export function ownedBy({ workspaceId, role, memberId }: Actor) {
  return { workspaceId, ...(role !== 'owner' && { memberId }) };
}

export interface NewKey {
  name?: string | null;
  scopes: readonly Scope[];
  expiresAt?: Date | null;
  /** The key's member, if the operator creates it; others create their own. */
  memberId?: string;
}

/** Creates a key. The secret is only in the result. A key created in a session opened by a key ends with that key. */
export async function createKey(tx: Tx, actor: Actor, { name = null, scopes, expiresAt = null, memberId }: NewKey) {
  requireFullRights(actor);
  const owner = actor.kind === 'operator' ? await existingMember(tx, actor.workspaceId, memberId ?? '') : actor.memberId;
  if (memberId !== undefined && memberId !== owner) throw forbidden();
  const reserved = scopes.find((scope) => OWNER_SCOPES.has(scope));
  if (reserved && actor.role !== 'owner')
    throw invalid([{ field: 'scopes', message: `${reserved} can be given by owners of the workspace only` }]);
  const key = newKey();
  const parentId = causeOf(actor);
  const parent = parentId === null ? null : await tx.em.findOne(ApiKey, parentId);
  const ends = [expiresAt, parent?.expiresAt].filter((end) => end != null).map(Number);
  const row = tx.em.create(ApiKey, {
    ...{ workspaceId: actor.workspaceId, memberId: owner, hash: hashOf(key), hint: key.slice(-4), name, scopes: [...scopes] },
    ...{ expiresAt: ends.length ? new Date(Math.min(...ends)) : null, parentId, vouched: vouchesFor(actor, owner) },
  });
  await tx.em.flush();
  await audit(tx, actor, 'key.create', row.id);
  return { id: row.id, key, name, scopes, expires_at: row.expiresAt?.toISOString() ?? null };
}

/**
 * Revokes a key immediately, one's own or as an owner any, with everything derived from it: keys, sessions, sign-in links, grants. Throws
 * 404.
 */
export async function revokeKey(tx: Tx, actor: Actor, id: string): Promise<void> {
  requireFullRights(actor);
  // SQL: a recursive query finds a key and everything derived from it
  const ended = await tx.rows<{ id: string }>(
    `with recursive ended (id) as (
       select k.id from api_keys k where k.workspace_id = ? and k.id = ? and (? or k.member_id = ?)
       union select child.id from api_keys child join ended on child.parent_id = ended.id where child.workspace_id = ?)
     update api_keys k set revoked_at = coalesce(k.revoked_at, now()) from ended where k.workspace_id = ? and k.id = ended.id returning k.id`,
    [actor.workspaceId, lookupId(id), actor.role === 'owner', actor.memberId, actor.workspaceId, actor.workspaceId],
  );
  if (!ended.length) throw notFound();
  await audit(tx, actor, 'key.revoke', id);
  const ids = ended.map((key) => key.id);
  const fromThem = () => ({ workspaceId: actor.workspaceId, keyId: anyOf(ids) });
  for (const table of [Session, SignInLink, OauthCode]) await tx.em.nativeDelete(table as OfKey, fromThem());
  await tx.em.nativeUpdate(OauthToken, { ...fromThem(), revokedAt: null }, { revokedAt: now() });
}
