import type { Scope } from '../../api/contract/workspace.ts';
import type { Db } from '../postgres/orm.ts';
import { absent, array, existing } from '../tenants/existing.ts';
import { lookupId } from '../tenants/visibility.ts';
import { hashOf, newKey, newToken } from './keys.ts';

export interface NewKey {
  workspaceId: string;
  memberId: string;
  scopes: readonly Scope[];
  expiresAt?: Date;
}

/** Makes a key. It is in the answer and nowhere else. */
export function createKey(db: Db, { workspaceId, memberId, scopes, expiresAt }: NewKey): Promise<{ id: string; key: string }> {
  return db.system(async (tx) => {
    await existing(tx, 'member', memberId, workspaceId);
    const key = newKey();
    const row = await tx.row<{ id: string }>(
      'insert into api_keys (workspace_id, member_id, hash, hint, scopes, expires_at) values (?, ?, ?, ?, ?::text[], ?) returning id',
      [workspaceId, memberId, hashOf(key), key.slice(-4), array(scopes), expiresAt?.toISOString() ?? null],
    );
    return { id: row!.id, key };
  });
}

export function revokeKey(db: Db, keyId: string): Promise<{ id: string }> {
  return db.system(async (tx) => {
    const row = await tx.row<{ id: string }>('update api_keys set revoked_at = coalesce(revoked_at, now()) where id = ? returning id', [
      lookupId(keyId),
    ]);
    return row ?? Promise.reject(absent('key', keyId));
  });
}

/** All keys, or those of one workspace; without their secrets. */
export function listKeys(db: Db, workspaceId?: string) {
  return db.system((tx) =>
    tx.rows<{ id: string; workspace_id: string; member_id: string; ends_in: string; scopes: Scope[]; expires_at: string | null }>(
      `select id, workspace_id, member_id, hint as ends_in, to_json(scopes) as scopes, expires_at, revoked_at, last_used_at, created_at
       from api_keys where (?::uuid is null or workspace_id = ?::uuid) order by created_at, id`,
      workspaceId === undefined ? [null, null] : [lookupId(workspaceId), lookupId(workspaceId)],
    ),
  );
}

/** Makes an OAuth access token, as the sign-in flow would issue it. */
export function createToken(db: Db, token: { workspaceId: string; memberId: string; scopes: readonly Scope[]; ttlSeconds: number }) {
  return db.system(async (tx) => {
    await existing(tx, 'member', token.memberId, token.workspaceId);
    const secret = newToken();
    const row = await tx.row<{ expires_at: string }>(
      `insert into oauth_tokens (hash, kind, family, workspace_id, member_id, scopes, expires_at)
       values (?, 'access', gen_random_uuid(), ?, ?, ?::text[], now() + ? * interval '1 second') returning expires_at`,
      [hashOf(secret), token.workspaceId, token.memberId, array(token.scopes), token.ttlSeconds],
    );
    return { access_token: secret, expires_at: new Date(row!.expires_at).toISOString() };
  });
}
