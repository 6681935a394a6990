import type { Actor } from '../../api/contract/actor.ts';
import { AuditEntry as Entry } from '../postgres/entities/audit.ts';
import type { Tx } from '../postgres/orm.ts';

/** Recorded actions: a noun and what happened to it. */
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
  | `webhook.${'create' | 'delete' | 'pause' | 'resume' | 'replay' | 'change' | 'rotate' | 'test'}`
  | `settings.change`
  | `transcription.${'delete' | 'author' | 'speaker' | 'correct' | 'move'}`
  | `workspace.${'create' | 'change' | 'minutes' | 'delete'}`;

/** Id of the key, token or member, depending on the kind of actor. */
function idOf(actor: Actor): string | null {
  if (actor.kind === 'key') return actor.keyId;
  if (actor.kind === 'token') return actor.tokenId;
  return actor.kind === 'session' ? actor.sessionId : null;
}

/** Records who did what to which object, in the same transaction: ids only, never content, names or addresses. */
export async function audit(tx: Tx, actor: Actor, action: Action, targetId: string | null = null): Promise<void> {
  const { workspaceId, kind: actorKind, memberId } = actor;
  await tx.em.insert(Entry, { workspaceId, actorKind, actorId: idOf(actor), memberId, action, targetId });
}

/** The same for a person who is signing in and is not an actor yet. */
export async function auditEntrant(
  tx: Tx,
  { workspaceId, memberId }: { workspaceId: string; memberId: string },
  action: 'session.create' | 'invitation.accept',
  targetId: string | null,
): Promise<void> {
  await tx.em.insert(Entry, { workspaceId, actorKind: 'session', memberId, action, targetId });
}

export interface AuditEntry {
  at: string;
  actor_kind: Actor['kind'];
  /** Of the key, token or session; null for the operator. */
  actor_id: string | null;
  /** On whose behalf; null for the operator. */
  member_id: string | null;
  action: Action;
  target_id: string | null;
}

/** The latest entries of a workspace, at most `limit`. The log outlives the workspace, so the transaction acts for the installation. */
export async function listAudit(tx: Tx, workspaceId: string, limit: number): Promise<AuditEntry[]> {
  const entries = await tx.em.find(Entry, { workspaceId }, { orderBy: { id: 'desc' }, limit });
  return entries.map(({ at, actorKind, actorId, memberId, action, targetId }) => ({
    ...{ at: at.toISOString(), actor_kind: actorKind as Actor['kind'], actor_id: actorId ?? null, member_id: memberId ?? null },
    ...{ action: action as Action, target_id: targetId ?? null },
  }));
}
