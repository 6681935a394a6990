import { randomBytes, randomUUID } from 'node:crypto';
import { type Actor, requireFullRights, type SessionActor } from '../../api/contract/actor.ts';
import { notFound } from '../../api/contract/errors.ts';
import { SCOPES, type Scope } from '../../api/contract/workspace.ts';
import { ApiKey } from '../postgres/entities/member.ts';
import { Session as SessionEntity } from '../postgres/entities/oauth.ts';
import { anyOf, fromNow, now } from '../postgres/expressions.ts';
import type { Tx } from '../postgres/orm.ts';
import { findPeople } from '../tenants/members.ts';
import { lookupId } from '../tenants/visibility.ts';
import { audit, auditEntrant } from './audit.ts';
import { causeInForce, hashOf, inTheNameOf, type MemberRow } from './credentials.ts';
import { ownedBy } from './keys.ts';

const SESSION_SECONDS = 12 * 3600;

/** A signed-in person, with all rights of the member's role; after a sign-in with an API key, with those of the key only. */
export interface Session {
  actor: SessionActor;
  /** CSRF token, sent by the page with every request. */
  csrf: string;
}

interface SessionIdentity extends MemberRow {
  id: string;
  key_id: string | null;
  csrf: string;
  vouched: boolean;
  operator: boolean;
  expires_at: string;
  /** Of the key that opened the session; null: none did. */
  scopes: Scope[] | null;
}

/** A random secret of 256 bits; only its SHA-256 is stored. */
export const newSecret = () => randomBytes(32).toString('base64url');

/** The person signing in; `keyId`: with that API key, or with a link derived from it. */
export interface Entrant {
  workspaceId: string;
  memberId: string;
  keyId?: string | null;
  /** Whether a trusted party confirms that this is the person with the member's address; default: no. */
  vouched?: boolean;
}

/** Starts a session of an active member. The secret goes into the cookie. */
export async function openSession(tx: Tx, { workspaceId, memberId, keyId = null, vouched = false }: Entrant): Promise<string> {
  const token = newSecret();
  const id = randomUUID();
  const who = { workspaceId, memberId, keyId, vouched };
  await tx.em.insert(SessionEntity, { id, hash: hashOf(token), ...who, csrf: newSecret(), expiresAt: fromNow(SESSION_SECONDS) });
  await auditEntrant(tx, { workspaceId, memberId }, 'session.create', id);
  return token;
}

/**
 * SQL: run by every console request. The session of a cookie; null if it is unknown or expired, its member inactive, or its key revoked or
 * expired.
 */
export async function findSession(tx: Tx, token: string): Promise<Session | null> {
  const row = await tx.row<SessionIdentity>(
    `select s.id, s.csrf, s.expires_at, s.key_id, s.vouched, s.workspace_id, w.name as workspace_name, w.plan, s.member_id, m.email, m.name, m.role,
       to_json(k.scopes) as scopes,
       (m.email_trusted or exists (select from sign_in_bindings b where b.member_id = m.id)) and exists (select from operators o where o.email = lower(m.email)) as operator
     from sessions s left join api_keys k on k.id = s.key_id join workspaces w on w.id = s.workspace_id and w.deleted_at is null join members m on m.id = s.member_id and m.status = 'active'
     where s.hash = ? and s.expires_at > now() and ${causeInForce('s.key_id')} and ${causeInForce('k.parent_id')}`,
    [hashOf(token)],
  );
  if (!row) return null;
  const { scopes: rights, ...member } = inTheNameOf(row, SCOPES);
  const held = (scope: Scope) => row.scopes?.includes(scope) ?? true;
  const limited = ![...rights].every((scope) => scope === 'webhooks:write' || held(scope)); // this scope is newer than existing keys with every scope
  const scopes = limited ? new Set([...rights].filter(held)) : rights;
  const opened = { sessionId: row.id, openedByKey: row.key_id, limited, vouched: row.vouched, expiresAt: new Date(row.expires_at) };
  const runsInstallation = row.operator && row.vouched && !limited;
  return { actor: { kind: 'session', ...member, scopes, ...opened, runsInstallation }, csrf: row.csrf };
}

export async function closeSession(tx: Tx, actor: SessionActor): Promise<void> {
  await tx.em.nativeDelete(SessionEntity, { workspaceId: actor.workspaceId, id: actor.sessionId });
}

export interface SessionRow {
  id: string;
  member: { id: string; email: string };
  /** The key that opened it; null: a link or a sign-in provider. */
  key: { id: string; hint: string } | null;
  created_at: string;
  expires_at: string;
}

/** Sessions: a member's own, for an owner all of the workspace. Newest first. */
export async function listSessions(tx: Tx, actor: Actor): Promise<SessionRow[]> {
  requireFullRights(actor);
  const order = { createdAt: 'desc', id: 'asc' } as const;
  const sessions = await tx.em.find(SessionEntity, { ...ownedBy(actor), expiresAt: { $gt: now() } }, { orderBy: order, limit: 1000 });
  const holders = sessions.map(({ memberId }) => memberId);
  const people = await findPeople(tx, actor.workspaceId, holders);
  const openers = anyOf(sessions.flatMap(({ keyId }) => keyId ?? []));
  const keys = new Map((await tx.em.find(ApiKey, { id: openers })).map(({ id, hint }) => [id, { id, hint }]));
  return sessions.map(({ id, memberId, keyId, createdAt, expiresAt }) => ({
    ...{ id, member: people.get(memberId)!, key: keys.get(keyId ?? '') ?? null },
    ...{ created_at: createdAt.toISOString(), expires_at: expiresAt.toISOString() },
  }));
}

/** Ends a session: one's own, or as an owner any. Throws 404. */
export async function revokeSession(tx: Tx, actor: Actor, id: string): Promise<void> {
  requireFullRights(actor);
  if (!(await tx.em.nativeDelete(SessionEntity, { ...ownedBy(actor), id: lookupId(id) }))) throw notFound();
  await audit(tx, actor, 'session.revoke', id);
}
