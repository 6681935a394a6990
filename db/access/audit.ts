import type { Actor } from '../../api/contract/actor.ts';
import type { Tx } from '../postgres/orm.ts';
import { stamp } from '../transcripts/list-row.ts';

/** What is written down: a noun and what happened to it. */
export type Action =
  | `key.${'create' | 'revoke'}`
  | `session.${'create' | 'revoke'}`
  | `grant.${'create' | 'revoke'}`
  | `link.create`
  | `token.create`
  | `member.${'add' | 'change' | 'remove'}`
  | `invitation.${'create' | 'revoke' | 'accept'}`
  | `identity.${'link' | 'unlink'}`
  | `project.${'create' | 'delete' | 'member'}`
  | `template.${'create' | 'change' | 'delete'}`
  | `webhook.${'create' | 'delete' | 'pause' | 'resume' | 'replay'}`
  | `settings.change`
  | `transcription.${'delete' | 'author' | 'speaker'}`
  | `workspace.${'create' | 'change' | 'minutes' | 'delete'}`;

/** Which key, token or member it was, by its kind. */
function idOf(actor: Actor): string | null {
  if (actor.kind === 'key') return actor.keyId;
  if (actor.kind === 'token') return actor.tokenId;
  return actor.kind === 'session' ? actor.sessionId : null;
}

/** Writes down who did what to which, in the transaction that does it: ids, never a word, a name or an address. */
export async function audit(tx: Tx, actor: Actor, action: Action, targetId: string | null = null): Promise<void> {
  await tx.rows(
    'insert into audit_log (workspace_id, actor_kind, actor_id, member_id, action, target_id) values (?::uuid, ?, ?::uuid, ?::uuid, ?, ?)',
    [actor.workspaceId, actor.kind, idOf(actor), actor.memberId, action, targetId],
  );
}

/** The same for somebody who is just coming in, and is no actor yet. */
export async function auditEntrant(
  tx: Tx,
  { workspaceId, memberId }: { workspaceId: string; memberId: string },
  action: 'session.create' | 'invitation.accept',
  targetId: string | null,
): Promise<void> {
  await tx.rows(
    `insert into audit_log (workspace_id, actor_kind, member_id, action, target_id) values (?::uuid, 'session', ?::uuid, ?, ?)`,
    [workspaceId, memberId, action, targetId],
  );
}

export interface AuditEntry {
  at: string;
  actor_kind: Actor['kind'];
  /** Of the key, token or session; null for the operator. */
  actor_id: string | null;
  /** In whose name; null for the operator. */
  member_id: string | null;
  action: Action;
  target_id: string | null;
}

/** The newest entries of a workspace, at most `limit`. The log outlives the workspace: the transaction acts for the installation. */
export function listAudit(tx: Tx, workspaceId: string, limit: number): Promise<AuditEntry[]> {
  return tx.rows<AuditEntry>(
    `select ${stamp('a.at')} as at, a.actor_kind, a.actor_id, a.member_id, a.action, a.target_id from audit_log a
     where a.workspace_id = ?::uuid order by a.id desc limit ?`,
    [workspaceId, limit],
  );
}
