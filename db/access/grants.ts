import { createHash } from 'node:crypto';
import { type Actor, causeOf, type MemberActor, requireFullRights } from '../../api/contract/actor.ts';
import { notFound } from '../../api/contract/errors.ts';
import type { Scope } from '../../api/contract/workspace.ts';
import { OauthClient, OauthCode, OauthToken } from '../postgres/entities/oauth.ts';
import { fromNow, now } from '../postgres/expressions.ts';
import { lockNamed } from '../postgres/locks.ts';
import type { Tx } from '../postgres/orm.ts';
import { lookupId } from '../tenants/visibility.ts';
import { stamp } from '../transcripts/list-row.ts';
import { audit } from './audit.ts';
import { hashOf, newToken } from './credentials.ts';
import { ownedBy } from './keys.ts';

const CODE_SECONDS = 120;

/** A member's consent. */
export interface Grant {
  clientId: string;
  workspaceId: string;
  memberId: string;
  scopes: readonly Scope[];
  /** Audience: the resource of the tokens (RFC 8707). */
  resource: string;
  /** The key whose revocation ends it; null: none. */
  keyId: string | null;
}

/** Of a code, or of a token derived from one. */
export const grantOf = (row: {
  clientId?: string | null;
  workspaceId: string;
  memberId: string;
  scopes: string[];
  resource?: string | null;
  keyId?: string | null;
}): Grant => ({
  ...{ clientId: row.clientId ?? '', workspaceId: row.workspaceId, memberId: row.memberId },
  ...{ scopes: row.scopes as Scope[], resource: row.resource ?? '', keyId: row.keyId ?? null },
});

/** An assistant's request. */
export type ConsentTo = Pick<Grant, 'clientId' | 'scopes' | 'resource'>;

/**
 * The acting person consents: returns a code that is valid for two minutes and once. `challenge`: the S256 challenge of PKCE (RFC 7636).
 */
export async function issueCode(tx: Tx, actor: MemberActor, asked: ConsentTo, redirectUri: string, challenge: string): Promise<string> {
  requireFullRights(actor);
  const code = newToken();
  const { clientId, scopes, resource } = asked;
  const { workspaceId, memberId } = actor;
  const keyId = causeOf(actor);
  await tx.em.nativeUpdate(OauthClient, { id: clientId }, { lastUsedAt: now() });
  await tx.em.insert(OauthCode, {
    ...{ hash: hashOf(code), clientId, workspaceId, memberId, keyId, scopes: [...scopes], resource },
    ...{ redirectUri, codeChallenge: challenge, expiresAt: fromNow(CODE_SECONDS) },
  });
  await audit(tx, actor, 'grant.create', familyOf(code));
  return code;
}

/** Common to all tokens derived from one code; also the id of the grant. */
export function familyOf(code: string): string {
  const hex = createHash('sha256').update(`family|${code}`).digest('hex');
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-4${hex.slice(13, 16)}-8${hex.slice(17, 20)}-${hex.slice(20, 32)}`;
}

export interface GrantRow {
  id: string;
  /** Null: a token created by the operator. */
  client: { id: string; name: string } | null;
  member: { id: string; email: string };
  scopes: Scope[];
  created_at: string;
  expires_at: string;
}

/** SQL: groups tokens by grant. Assistants with access: of the member, for an owner of the whole workspace. Newest first. */
export function listGrants(tx: Tx, actor: Actor): Promise<GrantRow[]> {
  requireFullRights(actor);
  return tx.rows<GrantRow>(
    `select g.id, case when c.id is not null then json_build_object('id', c.id, 'name', c.name) end as client,
       json_build_object('id', m.id, 'email', m.email) as member, to_json(g.scopes) as scopes, ${stamp('g.created_at')} as created_at,
       ${stamp('g.expires_at')} as expires_at
     from (select distinct on (t.family) t.family as id, t.client_id, t.member_id, t.scopes, t.expires_at,
         min(t.created_at) over (partition by t.family) as created_at
       from oauth_tokens t where t.workspace_id = ? and (? or t.member_id = ?) and t.revoked_at is null and t.expires_at > now()
       order by t.family, t.expires_at desc) g
     join members m on m.id = g.member_id left join oauth_clients c on c.id = g.client_id
     order by g.created_at desc, g.id limit 1000`,
    [actor.workspaceId, actor.role === 'owner', actor.memberId],
  );
}

/** Waits for an exchange of a token of this grant, whose new tokens a revocation would not see, and keeps others from starting. */
export function lockGrant(tx: Tx, family: string): Promise<void> {
  return lockNamed(tx, `grant ${family}`);
}

/** Revokes a grant with all its tokens: one's own, or as an owner any in the workspace. Throws 404. */
export async function revokeGrant(tx: Tx, actor: Actor, id: string): Promise<void> {
  requireFullRights(actor);
  const family = lookupId(id);
  await lockGrant(tx, family);
  const alive = { ...ownedBy(actor), family, revokedAt: null, expiresAt: { $gt: now() } };
  if (!(await tx.em.nativeUpdate(OauthToken, alive, { revokedAt: now() }))) throw notFound();
  await audit(tx, actor, 'grant.revoke', id);
}
