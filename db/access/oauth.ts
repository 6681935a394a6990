import { createHash, randomUUID } from 'node:crypto';
import type { Scope } from '../../api/contract/workspace.ts';
import type { Tx } from '../postgres/orm.ts';
import { hashOf, newToken } from './credentials.ts';

const CODE_SECONDS = 120;
const ACCESS_SECONDS = 3_600;
const REFRESH_SECONDS = 30 * 86_400;

export interface OAuthClient {
  id: string;
  name: string;
  redirectUris: string[];
}

/** What a member agreed to. */
export interface Grant {
  clientId: string;
  workspaceId: string;
  memberId: string;
  scopes: readonly Scope[];
  /** Audience: the resource that the tokens are for (RFC 8707). */
  resource: string;
}

export interface Tokens {
  accessToken: string;
  refreshToken: string;
  expiresIn: number;
  scopes: readonly Scope[];
}

export async function registerClient(tx: Tx, name: string, redirectUris: readonly string[]): Promise<OAuthClient> {
  const id = randomUUID();
  await tx.rows('insert into oauth_clients (id, name, redirect_uris) select ?, ?, array(select json_array_elements_text(?::json))', [
    id,
    name,
    JSON.stringify(redirectUris),
  ]);
  return { id, name, redirectUris: [...redirectUris] };
}

export async function findClient(tx: Tx, id: string): Promise<OAuthClient | null> {
  if (id.includes('\0')) return null; // PostgreSQL takes no NUL
  const row = await tx.row<{ id: string; name: string; uris: string[] }>(
    'select id, name, to_json(redirect_uris) as uris from oauth_clients where id = ?',
    [id],
  );
  return row && { id: row.id, name: row.name, redirectUris: row.uris };
}

/** A code that lives two minutes and works once. `challenge`: the S256 challenge of PKCE (RFC 7636). */
export async function issueCode(tx: Tx, grant: Grant, redirectUri: string, challenge: string): Promise<string> {
  const code = newToken();
  await tx.rows(
    `insert into oauth_codes (hash, client_id, workspace_id, member_id, scopes, resource, redirect_uri, code_challenge, expires_at)
     values (?, ?, ?, ?, array(select json_array_elements_text(?::json)), ?, ?, ?, now() + make_interval(secs => ?))`,
    [
      hashOf(code),
      grant.clientId,
      grant.workspaceId,
      grant.memberId,
      JSON.stringify(grant.scopes),
      grant.resource,
      redirectUri,
      challenge,
      CODE_SECONDS,
    ],
  );
  return code;
}

interface GrantRow {
  client_id: string;
  workspace_id: string;
  member_id: string;
  scopes: Scope[];
  resource: string;
}

const grantOf = (row: GrantRow): Grant => ({
  clientId: row.client_id,
  workspaceId: row.workspace_id,
  memberId: row.member_id,
  scopes: row.scopes,
  resource: row.resource,
});

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
  const row = await tx.row<GrantRow & { family: string }>(
    `update oauth_codes set used_at = now() where hash = ? and used_at is null and expires_at > now() and client_id = ? and redirect_uri = ? and code_challenge = ?
     returning client_id, workspace_id, member_id, to_json(scopes) as scopes, resource`,
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

/** All tokens that descend from one code share this. */
function familyOf(code: string): string {
  const hex = createHash('sha256').update(`family|${code}`).digest('hex');
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-4${hex.slice(13, 16)}-8${hex.slice(17, 20)}-${hex.slice(20, 32)}`;
}

/** New tokens for a refresh token, which is spent. One that was spent before revokes the whole family. Scopes may be narrowed. */
export async function refresh(tx: Tx, refreshToken: string, clientId: string, scopes: readonly Scope[] | null): Promise<Tokens | null> {
  const row = await tx.row<GrantRow & { family: string; revoked: boolean }>(
    `select t.client_id, t.workspace_id, t.member_id, to_json(t.scopes) as scopes, t.resource, t.family, t.revoked_at is not null as revoked
     from oauth_tokens t join members m on m.id = t.member_id and m.status = 'active'
     where t.hash = ? and t.kind = 'refresh' and t.client_id = ? and t.expires_at > now() for update of t`,
    [hashOf(refreshToken), clientId],
  );
  if (!row) return null;
  if (row.revoked) {
    await revokeFamily(tx, row.family);
    return null;
  }
  if (scopes?.some((scope) => !row.scopes.includes(scope))) return null;
  await tx.rows('update oauth_tokens set revoked_at = now() where hash = ?', [hashOf(refreshToken)]);
  return mint(tx, { ...grantOf(row), scopes: scopes ?? row.scopes }, row.family, row.scopes);
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

/** `kept`: what the refresh token may still ask for, when the access token is narrower. */
async function mint(tx: Tx, grant: Grant, family: string, kept: readonly Scope[] = grant.scopes): Promise<Tokens> {
  const accessToken = newToken();
  const refreshToken = newToken();
  for (const [kind, token, seconds, scopes] of [
    ['access', accessToken, ACCESS_SECONDS, grant.scopes],
    ['refresh', refreshToken, REFRESH_SECONDS, kept],
  ] as const) {
    await tx.rows(
      `insert into oauth_tokens (hash, kind, family, client_id, workspace_id, member_id, scopes, resource, expires_at)
       values (?, ?, ?::uuid, ?, ?, ?, array(select json_array_elements_text(?::json)), ?, now() + make_interval(secs => ?))`,
      [hashOf(token), kind, family, grant.clientId, grant.workspaceId, grant.memberId, JSON.stringify(scopes), grant.resource, seconds],
    );
  }
  return { accessToken, refreshToken, expiresIn: ACCESS_SECONDS, scopes: grant.scopes };
}
