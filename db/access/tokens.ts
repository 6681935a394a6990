import { createHash } from 'node:crypto';
import type { OperatorActor } from '../../api/contract/actor.ts';
import type { Scope } from '../../api/contract/workspace.ts';
import type { Tx } from '../postgres/orm.ts';
import { existingMember } from '../tenants/members.ts';
import { audit } from './audit.ts';
import { causeInForce, hashOf, newToken } from './credentials.ts';
import { familyOf, type Grant, type GrantColumns, grantOf } from './grants.ts';

const ACCESS_SECONDS = 3_600;
const REFRESH_SECONDS = 30 * 86_400;
const GRACE_SECONDS = 60; // an answer may be lost on its way: the client asks again

export interface Tokens {
  accessToken: string;
  refreshToken: string;
  expiresIn: number;
  scopes: readonly Scope[];
}

/**
 * Tokens for a code, once. Null when the code is unknown, expired, used, or for another client, address or verifier. A code presented twice
 * was stolen from somebody: every token that came from it is revoked (RFC 6749, 10.5).
 */
export async function redeemCode(
  tx: Tx,
  code: string,
  proof: { clientId: string; redirectUri: string; verifier: string },
): Promise<Tokens | null> {
  const challenge = createHash('sha256').update(proof.verifier).digest('base64url');
  const row = await tx.row<GrantColumns>(
    `update oauth_codes c set used_at = now() from members m
     where c.hash = ? and c.used_at is null and c.expires_at > now() and c.client_id = ? and c.redirect_uri = ? and c.code_challenge = ?
       and m.id = c.member_id and m.status = 'active' and ${causeInForce('c.key_id')}
     returning c.client_id, c.workspace_id, c.member_id, to_json(c.scopes) as scopes, c.resource, c.key_id`,
    [hashOf(code), proof.clientId, proof.redirectUri, challenge],
  );
  const family = familyOf(code);
  if (row) return mint(tx, grantOf(row), family);
  await tx.rows(
    'update oauth_tokens set revoked_at = now() where family = ?::uuid and revoked_at is null and exists (select from oauth_codes where hash = ? and used_at is not null)',
    [family, hashOf(code)],
  );
  return null;
}

/**
 * New tokens for a refresh token, which is spent. One that was spent before revokes the whole family, unless it was a moment ago and nothing was done with its
 * successor: then the answer was lost, and the tokens of the first answer end. Scopes may be narrowed.
 */
export async function refresh(tx: Tx, refreshToken: string, clientId: string, scopes: readonly Scope[] | null): Promise<Tokens | null> {
  const row = await tx.row<GrantColumns & { id: string; family: string; revoked: boolean; again: boolean }>(
    `select t.id, t.client_id, t.workspace_id, t.member_id, to_json(t.scopes) as scopes, t.resource, t.key_id, t.family, t.revoked_at is not null as revoked,
       coalesce(t.replaced_at > now() - make_interval(secs => ?) and exists (select from oauth_tokens s
         where s.family = t.family and s.predecessor_id = t.id and s.kind = 'refresh' and s.revoked_at is null), false) as again
     from oauth_tokens t join members m on m.id = t.member_id and m.status = 'active'
     where t.hash = ? and t.kind = 'refresh' and t.client_id = ? and t.expires_at > now() and ${causeInForce('t.key_id')} for update of t`,
    [GRACE_SECONDS, hashOf(refreshToken), clientId],
  );
  if (!row) return null;
  if (row.revoked && !row.again) {
    await revokeFamily(tx, row.family);
    return null;
  }
  if (scopes?.some((scope) => !row.scopes.includes(scope))) return null;
  if (row.again) await tx.rows('update oauth_tokens set revoked_at = now() where predecessor_id = ? and revoked_at is null', [row.id]);
  else await tx.rows('update oauth_tokens set revoked_at = now(), replaced_at = now() where id = ?', [row.id]);
  return mint(tx, { ...grantOf(row), scopes: scopes ?? row.scopes }, row.family, row);
}

/** Revokes a token and all that descend from the same consent (RFC 7009). Says nothing about tokens that do not exist. */
export async function revokeToken(tx: Tx, token: string, clientId: string): Promise<void> {
  const row = await tx.row<{ family: string }>('select family from oauth_tokens where hash = ? and client_id = ?', [
    hashOf(token),
    clientId,
  ]);
  if (row) await revokeFamily(tx, row.family);
}

async function revokeFamily(tx: Tx, family: string): Promise<void> {
  await tx.rows('update oauth_tokens set revoked_at = now() where family = ?::uuid and revoked_at is null', [family]);
}

/** `spent`: the refresh token that they are for, and what the next one may still ask for when the access token is narrower. */
async function mint(tx: Tx, grant: Grant, family: string, spent: { id: string; scopes: readonly Scope[] } | null = null): Promise<Tokens> {
  const accessToken = newToken();
  const refreshToken = newToken();
  const { clientId, workspaceId, memberId, resource, keyId } = grant;
  if (clientId) await tx.rows('update oauth_clients set last_used_at = now() where id = ?', [clientId]);
  for (const [kind, token, seconds, scopes] of [
    ['access', accessToken, ACCESS_SECONDS, grant.scopes],
    ['refresh', refreshToken, REFRESH_SECONDS, spent?.scopes ?? grant.scopes],
  ] as const) {
    await tx.rows(
      `insert into oauth_tokens (hash, kind, family, client_id, workspace_id, member_id, key_id, scopes, resource, predecessor_id, expires_at)
       values (?, ?, ?::uuid, ?, ?, ?, ?, array(select json_array_elements_text(?::json)), ?, ?, now() + make_interval(secs => ?))`,
      [hashOf(token), kind, family, clientId, workspaceId, memberId, keyId, JSON.stringify(scopes), resource, spent?.id ?? null, seconds],
    );
  }
  return { accessToken, refreshToken, expiresIn: ACCESS_SECONDS, scopes: grant.scopes };
}

export interface NewToken {
  memberId: string;
  scopes: readonly Scope[];
  ttlSeconds: number;
}

/** Makes an OAuth access token of a member, as the sign-in flow would issue it. Its id is that of a grant, by which it is listed and revoked. */
export async function createToken(tx: Tx, actor: OperatorActor, { memberId, scopes, ttlSeconds }: NewToken) {
  const member = await existingMember(tx, actor.workspaceId, memberId);
  const secret = newToken();
  const row = await tx.row<{ family: string; expires_at: string }>(
    `insert into oauth_tokens (hash, kind, family, workspace_id, member_id, scopes, expires_at)
     values (?, 'access', gen_random_uuid(), ?, ?, array(select json_array_elements_text(?::json)), now() + ? * interval '1 second') returning family, expires_at`,
    [hashOf(secret), actor.workspaceId, member, JSON.stringify(scopes), ttlSeconds],
  );
  await audit(tx, actor, 'token.create', row!.family);
  return { id: row!.family, access_token: secret, expires_at: new Date(row!.expires_at).toISOString() };
}
