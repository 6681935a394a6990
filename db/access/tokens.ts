import { createHash, randomUUID } from 'node:crypto';
import type { OperatorActor } from '../../api/contract/actor.ts';
import type { Scope } from '../../api/contract/workspace.ts';
import { Member } from '../postgres/entities/member.ts';
import { OauthClient, OauthCode, OauthToken } from '../postgres/entities/oauth.ts';
import { fromNow, HELD, now } from '../postgres/expressions.ts';
import type { Tx } from '../postgres/orm.ts';
import { existingMember } from '../tenants/members.ts';
import { audit } from './audit.ts';
import { hashOf, isKeyInForce, newToken } from './credentials.ts';
import { familyOf, type Grant, grantOf, lockGrant } from './grants.ts';

const ACCESS_SECONDS = 3_600;
const REFRESH_SECONDS = 30 * 86_400;
const GRACE_SECONDS = 60; // allows a client to retry if the response was lost

export interface Tokens {
  accessToken: string;
  refreshToken: string;
  expiresIn: number;
  scopes: readonly Scope[];
}

/**
 * Exchanges a code for tokens, once. Null if the code is unknown, expired, used, or issued for another client, redirect address or
 * verifier. A code that is presented twice was stolen: every token derived from it is revoked (RFC 6749, 10.5).
 */
export async function redeemCode(
  tx: Tx,
  code: string,
  proof: { clientId: string; redirectUri: string; verifier: string },
): Promise<Tokens | null> {
  const challenge = createHash('sha256').update(proof.verifier).digest('base64url');
  const { clientId, redirectUri } = proof;
  const family = familyOf(code);
  const found = await tx.em.findOne(OauthCode, { hash: hashOf(code) }, HELD); // of two concurrent attempts the second sees it used
  if (found?.usedAt) await revokeFamily(tx, family);
  const fits =
    found && !found.usedAt && found.clientId === clientId && found.redirectUri === redirectUri && found.codeChallenge === challenge;
  if (!fits || !(await tx.em.count(OauthCode, { hash: found.hash, expiresAt: { $gt: now() } })) || !(await stands(tx, found))) return null;
  found.usedAt = new Date();
  await tx.em.flush();
  return mint(tx, grantOf(found), family);
}

/** Whether the member is active, and the originating key, if any, valid. */
async function stands(tx: Tx, { memberId, keyId = null }: { memberId: string; keyId?: string | null }): Promise<boolean> {
  return (await isKeyInForce(tx, keyId)) && (await tx.em.count(Member, { id: memberId, status: 'active' })) > 0;
}

/**
 * Exchanges a refresh token for new tokens. If it was used before, the whole family is revoked, except within a minute if its successor has
 * not been used: then the response was lost, and the tokens of the first response are revoked. Scopes may be narrowed.
 */
export async function refresh(tx: Tx, refreshToken: string, clientId: string, scopes: readonly Scope[] | null): Promise<Tokens | null> {
  const living = { hash: hashOf(refreshToken), kind: 'refresh', clientId, expiresAt: { $gt: now() } } as const;
  const given = await tx.em.findOne(OauthToken, living);
  if (!given) return null;
  await lockGrant(tx, given.family);
  const found = await tx.em.findOne(OauthToken, living, HELD);
  if (!found || !(await stands(tx, found))) return null;
  const { id, family, revokedAt } = found;
  const allowed = found.scopes as Scope[];
  const again = revokedAt != null && (await mayAskAgain(tx, id, family));
  if (revokedAt && !again) {
    await revokeFamily(tx, family);
    return null;
  }
  if (scopes?.some((scope) => !allowed.includes(scope))) return null;
  if (again) await tx.em.nativeUpdate(OauthToken, { family, predecessorId: id, revokedAt: null }, { revokedAt: now() });
  else await tx.em.nativeUpdate(OauthToken, { id }, { revokedAt: now(), replacedAt: now() });
  return mint(tx, { ...grantOf(found), scopes: scopes ?? allowed }, family, { id, scopes: allowed });
}

/** Whether a refresh token was used within the last minute and its successor has not been used. */
async function mayAskAgain(tx: Tx, id: string, family: string): Promise<boolean> {
  const unused = await tx.em.count(OauthToken, { family, predecessorId: id, kind: 'refresh', revokedAt: null });
  return unused > 0 && (await tx.em.count(OauthToken, { id, replacedAt: { $gt: fromNow(-GRACE_SECONDS) } })) > 0;
}

/** Revokes a token and all from the same consent (RFC 7009). Does not reveal whether a token exists. */
export async function revokeToken(tx: Tx, token: string, clientId: string): Promise<void> {
  const found = await tx.em.findOne(OauthToken, { hash: hashOf(token), clientId });
  if (found) await revokeFamily(tx, found.family);
}

async function revokeFamily(tx: Tx, family: string): Promise<void> {
  await lockGrant(tx, family);
  await tx.em.nativeUpdate(OauthToken, { family, revokedAt: null }, { revokedAt: now() });
}

/** `spent`: the refresh token exchanged, with the scopes that its successor keeps if the access token is narrower. */
async function mint(tx: Tx, grant: Grant, family: string, spent: { id: string; scopes: readonly Scope[] } | null = null): Promise<Tokens> {
  const accessToken = newToken();
  const refreshToken = newToken();
  const { clientId, workspaceId, memberId, resource, keyId } = grant;
  await tx.em.nativeUpdate(OauthClient, { id: clientId }, { lastUsedAt: now() });
  for (const [kind, token, seconds, scopes] of [
    ['access', accessToken, ACCESS_SECONDS, grant.scopes],
    ['refresh', refreshToken, REFRESH_SECONDS, spent?.scopes ?? grant.scopes],
  ] as const) {
    await tx.em.insert(OauthToken, {
      ...{ hash: hashOf(token), kind, family, clientId, workspaceId, memberId, keyId, scopes: [...scopes], resource },
      ...{ predecessorId: spent?.id ?? null, expiresAt: fromNow(seconds) },
    });
  }
  return { accessToken, refreshToken, expiresIn: ACCESS_SECONDS, scopes: grant.scopes };
}

export interface NewToken {
  memberId: string;
  scopes: readonly Scope[];
  ttlSeconds: number;
}

/** Creates an OAuth access token of a member, as the sign-in flow would. Its id is that of a grant, by which it is listed and revoked. */
export async function createToken(tx: Tx, actor: OperatorActor, { memberId, scopes, ttlSeconds }: NewToken) {
  const member = await existingMember(tx, actor.workspaceId, memberId);
  const secret = newToken();
  const [id, family] = [randomUUID(), randomUUID()];
  await tx.em.insert(OauthToken, {
    ...{ id, hash: hashOf(secret), kind: 'access', family, workspaceId: actor.workspaceId, memberId: member },
    ...{ scopes: [...scopes], expiresAt: fromNow(ttlSeconds) },
  });
  const { expiresAt } = await tx.em.findOneOrFail(OauthToken, { id });
  await audit(tx, actor, 'token.create', family);
  return { id: family, access_token: secret, expires_at: expiresAt.toISOString() };
}
