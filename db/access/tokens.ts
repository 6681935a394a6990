import type { OperatorActor } from '../../api/contract/actor.ts';
import type { Scope } from '../../api/contract/workspace.ts';
import type { Tx } from '../postgres/orm.ts';
import { existingMember } from '../tenants/members.ts';
import { hashOf, newToken } from './credentials.ts';

/** Makes an OAuth access token of a member, as the sign-in flow would issue it. */
export async function createToken(
  tx: Tx,
  actor: OperatorActor,
  { memberId, scopes, ttlSeconds }: { memberId: string; scopes: readonly Scope[]; ttlSeconds: number },
) {
  const member = await existingMember(tx, actor.workspaceId, memberId);
  const secret = newToken();
  const row = await tx.row<{ id: string; expires_at: string }>(
    `insert into oauth_tokens (hash, kind, family, workspace_id, member_id, scopes, expires_at)
     values (?, 'access', gen_random_uuid(), ?, ?, array(select json_array_elements_text(?::json)), now() + ? * interval '1 second') returning id, expires_at`,
    [hashOf(secret), actor.workspaceId, member, JSON.stringify(scopes), ttlSeconds],
  );
  return { access_token: secret, expires_at: new Date(row!.expires_at).toISOString() };
}
