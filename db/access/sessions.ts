import { randomBytes } from 'node:crypto';
import { type Actor, requireFullRights, type SessionActor } from '../../api/contract/actor.ts';
import { notFound } from '../../api/contract/errors.ts';
import { SCOPES, type Scope } from '../../api/contract/workspace.ts';
import type { Tx } from '../postgres/orm.ts';
import { lookupId } from '../tenants/visibility.ts';
import { stamp } from '../transcripts/list-row.ts';
import { audit, auditEntrant } from './audit.ts';
import { causeInForce, hashOf, inTheNameOf, type MemberRow } from './credentials.ts';

const SESSION_HOURS = 12;

/** A signed-in person, with every right of the member's role; after a sign-in with an API key, those of the key only. */
export interface Session {
  actor: SessionActor;
  /** Sent back by the page with every request, so that another site cannot act in the person's name. */
  csrf: string;
}

interface SessionIdentity extends MemberRow {
  id: string;
  key_id: string | null;
  csrf: string;
  vouched: boolean;
  operator: boolean;
  expires_at: string;
  /** Of the key that opened the session; null: no key did. */
  scopes: Scope[] | null;
}

/** A random secret of 256 bits; only its SHA-256 is stored. */
export const newSecret = () => randomBytes(32).toString('base64url');

/** Who signs in; `keyId`: with that API key, or with a link that came from it. */
export interface Entrant {
  workspaceId: string;
  memberId: string;
  keyId?: string | null;
  /** Somebody who is to be trusted says that this is the person of the member's address; unless given, nobody does. */
  vouched?: boolean;
}

/** Starts a session of an active member. The secret goes into the cookie. */
export async function openSession(tx: Tx, { workspaceId, memberId, keyId = null, vouched = false }: Entrant): Promise<string> {
  const token = newSecret();
  const row = await tx.row<{ id: string }>(
    `insert into sessions (hash, workspace_id, member_id, key_id, vouched, csrf, expires_at)
     values (?, ?, ?, ?, ?, ?, now() + make_interval(hours => ?)) returning id`,
    [hashOf(token), workspaceId, memberId, keyId, vouched, newSecret(), SESSION_HOURS],
  );
  await auditEntrant(tx, { workspaceId, memberId }, 'session.create', row!.id);
  return token;
}

/** The session behind a cookie; null when it is unknown or over, its member no longer active, or its key revoked or expired. */
export async function findSession(tx: Tx, token: string): Promise<Session | null> {
  const row = await tx.row<SessionIdentity>(
    `select s.id, s.csrf, s.expires_at, s.key_id, s.vouched, s.workspace_id, w.name as workspace_name, w.plan, s.member_id, m.email, m.name, m.role,
       to_json(k.scopes) as scopes,
       (m.email_trusted or exists (select from sign_in_bindings b where b.member_id = m.id)) and exists (select from operators o where o.email = lower(m.email)) as operator
     from sessions s left join api_keys k on k.id = s.key_id join workspaces w on w.id = s.workspace_id join members m on m.id = s.member_id and m.status = 'active'
     where s.hash = ? and s.expires_at > now() and ${causeInForce('s.key_id')} and ${causeInForce('k.parent_id')}`,
    [hashOf(token)],
  );
  if (!row) return null;
  const { scopes: rights, ...member } = inTheNameOf(row, SCOPES);
  const scopes = new Set([...rights].filter((scope) => row.scopes?.includes(scope) ?? true));
  const limited = scopes.size < rights.size;
  const opened = { sessionId: row.id, openedByKey: row.key_id, limited, vouched: row.vouched, expiresAt: new Date(row.expires_at) };
  const runsInstallation = row.operator && row.vouched && !limited;
  return { actor: { kind: 'session', ...member, scopes, ...opened, runsInstallation }, csrf: row.csrf };
}

export async function closeSession(tx: Tx, actor: SessionActor): Promise<void> {
  await tx.rows('delete from sessions where workspace_id = ? and id = ?', [actor.workspaceId, actor.sessionId]);
}

export interface SessionRow {
  id: string;
  member: { id: string; email: string };
  /** The key that opened it; null: a link or a sign-in provider did. */
  key: { id: string; hint: string } | null;
  created_at: string;
  expires_at: string;
}

const OWN = '(? or s.member_id = ?)'; // owners see the sessions of all
const own = (actor: Actor) => [actor.workspaceId, actor.role === 'owner', actor.memberId];

/** Who is signed in: a member's own sessions, for an owner those of everybody. Newest first. */
export function listSessions(tx: Tx, actor: Actor): Promise<SessionRow[]> {
  requireFullRights(actor);
  return tx.rows<SessionRow>(
    `select s.id, json_build_object('id', m.id, 'email', m.email) as member,
       case when k.id is not null then json_build_object('id', k.id, 'hint', k.hint) end as key,
       ${stamp('s.created_at')} as created_at, ${stamp('s.expires_at')} as expires_at
     from sessions s join members m on m.id = s.member_id left join api_keys k on k.id = s.key_id
     where s.workspace_id = ? and ${OWN} and s.expires_at > now() order by s.created_at desc, s.id limit 1000`,
    own(actor),
  );
}

/** Signs somebody out: oneself, or for an owner anybody. Throws 404. */
export async function revokeSession(tx: Tx, actor: Actor, id: string): Promise<void> {
  requireFullRights(actor);
  const row = await tx.row(`delete from sessions s where s.workspace_id = ? and ${OWN} and s.id = ? returning s.id`, [
    ...own(actor),
    lookupId(id),
  ]);
  if (!row) throw notFound();
  await audit(tx, actor, 'session.revoke', id);
}
