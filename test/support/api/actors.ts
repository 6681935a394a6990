import { randomUUID } from 'node:crypto';
import type { TokenActor } from '../../../api/contract/actor.ts';
import { type Role, SCOPES } from '../../../api/contract/workspace.ts';

/** A token of this member, as the API represents it after looking it up. */
export function tokenOf(person: { workspaceId: string; id: string }, role: Role = 'owner'): TokenActor {
  const member = { memberId: person.id, memberEmail: 'a@example.org', memberName: null, role };
  const workspace = { workspaceId: person.workspaceId, workspaceName: 'Acme', plan: 'api' as const };
  return { kind: 'token', tokenId: randomUUID(), resource: null, ...workspace, ...member, scopes: new Set(SCOPES), expiresAt: null };
}
