import { type Actor, causeOf, requireOwner, vouchesFor } from '../../api/contract/actor.ts';
import type { Tx } from '../postgres/orm.ts';
import { activeMember } from '../tenants/members.ts';
import { audit } from './audit.ts';
import { causeInForce, hashOf } from './credentials.ts';
import { type Entrant, newSecret } from './sessions.ts';

const LINK_HOURS = 24;

/** The secret of a link that signs a member in to the console once, within a day. Throws `member_not_found`. */
export async function signInLink(tx: Tx, actor: Actor, memberId: string): Promise<string> {
  requireOwner(actor);
  const member = await activeMember(tx, actor.workspaceId, memberId);
  await audit(tx, actor, 'link.create', member);
  return makeSignInLink(tx, {
    workspaceId: actor.workspaceId,
    memberId: member,
    keyId: causeOf(actor),
    vouched: vouchesFor(actor, member),
  });
}

/** The same for somebody who was looked up already. With `keyId` the link, and what it opens, ends with that key. */
export async function makeSignInLink(tx: Tx, { workspaceId, memberId, keyId = null, vouched = false }: Entrant): Promise<string> {
  const link = newSecret();
  await tx.rows(
    `insert into sign_in_links (hash, workspace_id, member_id, key_id, vouched, expires_at) values (?, ?, ?, ?, ?, now() + make_interval(hours => ?))`,
    [hashOf(link), workspaceId, memberId, keyId, vouched, LINK_HOURS],
  );
  return link;
}

/** Spends a link. Null when it is unknown, spent or over, its member is not active, or the key it came from is revoked or expired. */
export async function spendSignInLink(tx: Tx, link: string): Promise<Entrant | null> {
  const row = await tx.row<{ workspace_id: string; member_id: string; key_id: string | null; vouched: boolean }>(
    `update sign_in_links l set used_at = now() from members m
     where l.hash = ? and l.used_at is null and l.expires_at > now() and m.id = l.member_id and m.status = 'active' and ${causeInForce('l.key_id')}
     returning l.workspace_id, l.member_id, l.key_id, l.vouched`,
    [hashOf(link)],
  );
  return row && { workspaceId: row.workspace_id, memberId: row.member_id, keyId: row.key_id, vouched: row.vouched };
}
