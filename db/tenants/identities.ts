import type { Actor } from '../../api/contract/actor.ts';
import { ApiError } from '../../api/contract/errors.ts';
import type { Identity } from '../../api/contract/workspace.ts';
import { audit } from '../access/audit.ts';
import { Identity as IdentityEntity } from '../postgres/entities/member.ts';
import type { Tx } from '../postgres/orm.ts';

/**
 * Links an identity to a member. True: it is new; false: it was linked already. Throws `identity_conflict` if it is linked to another
 * member.
 */
export async function linkIdentity(tx: Tx, actor: Actor, memberId: string, identity: Identity): Promise<boolean> {
  // SQL: one statement links it or returns its member, because two requests may link it concurrently
  const row = await tx.row<{ member_id: string; created: boolean }>(
    `insert into identities (workspace_id, member_id, provider, external_id) values (?, ?, ?, ?)
     on conflict (workspace_id, provider, external_id) do update set provider = excluded.provider
     returning member_id, xmax = 0 as created`,
    [actor.workspaceId, memberId, identity.provider, identity.external_id],
  );
  if (row!.member_id !== memberId) throw new ApiError('identity_conflict');
  if (row!.created) await audit(tx, actor, 'identity.link', memberId);
  return row!.created;
}

/** Unlinks an identity. Throws 404 `identity_not_found` if it is not linked to this member. */
export async function unlinkIdentity(tx: Tx, actor: Actor, memberId: string, identity: Identity): Promise<void> {
  const { workspaceId } = actor;
  const { external_id: externalId, provider } = identity;
  const possible = !externalId.includes('\0') && !provider.includes('\0'); // PostgreSQL rejects NUL
  const linked = { workspaceId, memberId, provider: provider.toLowerCase(), externalId };
  if (!possible || !(await tx.em.nativeDelete(IdentityEntity, linked))) throw new ApiError('identity_not_found');
  await audit(tx, actor, 'identity.unlink', memberId);
}
