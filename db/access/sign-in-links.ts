import { type Actor, causeOf, requireOwner, vouchesFor } from '../../api/contract/actor.ts';
import { Member } from '../postgres/entities/member.ts';
import { SignInLink } from '../postgres/entities/oauth.ts';
import { fromNow, now } from '../postgres/expressions.ts';
import type { Tx } from '../postgres/orm.ts';
import { activeMember } from '../tenants/members.ts';
import { audit } from './audit.ts';
import { hashOf, isKeyInForce } from './credentials.ts';
import { type Entrant, newSecret } from './sessions.ts';

const LINK_SECONDS = 24 * 3600;

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

/** The same for a member that was already looked up. With `keyId` the link, and its session, end with that key. */
export async function makeSignInLink(tx: Tx, { workspaceId, memberId, keyId = null, vouched = false }: Entrant): Promise<string> {
  const link = newSecret();
  await tx.em.insert(SignInLink, { hash: hashOf(link), workspaceId, memberId, keyId, vouched, expiresAt: fromNow(LINK_SECONDS) });
  return link;
}

/** Uses a link. Null if it is unknown, used or expired, its member inactive, or the originating key revoked or expired. */
export async function spendSignInLink(tx: Tx, link: string): Promise<Entrant | null> {
  const unspent = { hash: hashOf(link), usedAt: null };
  const found = await tx.em.findOne(SignInLink, { ...unspent, expiresAt: { $gt: now() } });
  if (!found) return null;
  const { workspaceId, memberId, vouched, keyId = null } = found;
  if (!(await isKeyInForce(tx, keyId)) || !(await tx.em.count(Member, { id: memberId, status: 'active' }))) return null;
  const spent = await tx.em.nativeUpdate(SignInLink, unspent, { usedAt: now() }); // of two concurrent attempts the second finds nothing
  return spent ? { workspaceId, memberId, keyId, vouched } : null;
}
