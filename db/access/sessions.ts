import { randomBytes } from 'node:crypto';
import { type Actor, requireOwner, type SessionActor } from '../../api/contract/actor.ts';
import { SCOPES, type Scope } from '../../api/contract/workspace.ts';
import type { Tx } from '../postgres/orm.ts';
import { activeMember } from '../tenants/members.ts';
import { hashOf, inTheNameOf, type MemberRow } from './credentials.ts';

const SESSION_HOURS = 12;
const LINK_HOURS = 24;

/** A signed-in person, with every right of the member's role; after a sign-in with an API key, those of the key only. */
export interface Session {
  actor: SessionActor;
  /** Sent back by the page with every request, so that another site cannot act in the person's name. */
  csrf: string;
}

interface SessionRow extends MemberRow {
  key_id: string | null;
  csrf: string;
  expires_at: string;
  /** Of the key that opened the session; null: no key did. */
  scopes: Scope[] | null;
}

/** A random secret of 256 bits; only its SHA-256 is stored. */
const secret = () => randomBytes(32).toString('base64url');

/** Who signs in; `keyId`: with that API key. */
export interface Entrant {
  workspaceId: string;
  memberId: string;
  keyId?: string | null;
}

/** Starts a session of an active member. The secret goes into the cookie. */
export async function openSession(tx: Tx, { workspaceId, memberId, keyId = null }: Entrant): Promise<string> {
  const token = secret();
  await tx.rows('delete from sessions where expires_at < now()');
  await tx.rows(
    `insert into sessions (hash, workspace_id, member_id, key_id, csrf, expires_at) values (?, ?, ?, ?, ?, now() + make_interval(hours => ?))`,
    [hashOf(token), workspaceId, memberId, keyId, secret(), SESSION_HOURS],
  );
  return token;
}

/** The session behind a cookie; null when it is unknown or over, its member no longer active, or its key revoked or expired. */
export async function findSession(tx: Tx, token: string): Promise<Session | null> {
  const row = await tx.row<SessionRow>(
    `select s.csrf, s.expires_at, s.key_id, s.workspace_id, w.name as workspace_name, w.plan, s.member_id, m.email, m.name, m.role,
       to_json(k.scopes) as scopes
     from sessions s left join api_keys k on k.id = s.key_id join workspaces w on w.id = s.workspace_id join members m on m.id = s.member_id and m.status = 'active'
     where s.hash = ? and s.expires_at > now()
       and (s.key_id is null or (k.revoked_at is null and (k.expires_at is null or k.expires_at > now())))`,
    [hashOf(token)],
  );
  if (!row) return null;
  const { scopes: rights, ...member } = inTheNameOf(row, SCOPES);
  const scopes = new Set([...rights].filter((scope) => row.scopes?.includes(scope) ?? true));
  const limited = scopes.size < rights.size;
  const actor: SessionActor = { kind: 'session', ...member, scopes, expiresAt: new Date(row.expires_at), openedByKey: row.key_id, limited };
  return { actor, csrf: row.csrf };
}

export async function closeSession(tx: Tx, token: string): Promise<void> {
  await tx.rows('delete from sessions where hash = ?', [hashOf(token)]);
}

/** The secret of a link that signs a member in to the console once, within a day. Throws `member_not_found`. */
export async function signInLink(tx: Tx, actor: Actor, memberId: string): Promise<string> {
  requireOwner(actor);
  return makeSignInLink(tx, { workspaceId: actor.workspaceId, memberId: await activeMember(tx, actor.workspaceId, memberId) });
}

/** The same for somebody who was looked up already. */
export async function makeSignInLink(tx: Tx, member: { workspaceId: string; memberId: string }): Promise<string> {
  const link = secret();
  await tx.rows(
    `insert into sign_in_links (hash, workspace_id, member_id, expires_at) values (?, ?, ?, now() + make_interval(hours => ?))`,
    [hashOf(link), member.workspaceId, member.memberId, LINK_HOURS],
  );
  return link;
}

/** Spends a link. Null when it is unknown, spent or over, or its member is not active. */
export async function spendSignInLink(tx: Tx, link: string): Promise<{ workspaceId: string; memberId: string } | null> {
  const row = await tx.row<{ workspace_id: string; member_id: string }>(
    `update sign_in_links l set used_at = now() from members m
     where l.hash = ? and l.used_at is null and l.expires_at > now() and m.id = l.member_id and m.status = 'active'
     returning l.workspace_id, l.member_id`,
    [hashOf(link)],
  );
  return row && { workspaceId: row.workspace_id, memberId: row.member_id };
}

/** The active member with this address; of several workspaces the one that was joined last. */
export async function memberWithEmail(tx: Tx, email: string): Promise<Entrant | null> {
  const row = await tx.row<{ workspace_id: string; id: string }>(
    `select workspace_id, id from members where lower(email) = lower(?) and status = 'active' order by created_at desc, id limit 1`,
    [email],
  );
  return row && { workspaceId: row.workspace_id, memberId: row.id };
}
