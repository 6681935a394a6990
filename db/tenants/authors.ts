import type { Actor } from '../../api/contract/actor.ts';
import { Identity, Member } from '../postgres/entities/member.ts';
import { lower, lowered } from '../postgres/expressions.ts';
import type { Tx } from '../postgres/orm.ts';
import { lookupId } from './visibility.ts';

/** How a caller names a member as the author of a transcription. */
export type AuthorRef =
  | { kind: 'email'; email: string }
  | { kind: 'user'; id: string }
  | { kind: 'external'; provider: string; externalId: string };

export interface AuthorRow {
  id: string;
  email: string;
  name: string | null;
}

/** The active member of this workspace that `ref` identifies. Null for unknown, foreign, pending, removed and unlinked members alike. */
export async function findAuthor(tx: Tx, { workspaceId }: Actor, ref: AuthorRef): Promise<AuthorRow | null> {
  if (Object.values(ref).some((value) => value.includes('\0'))) return null; // PostgreSQL rejects NUL
  const named = await condition(tx, workspaceId, ref);
  const member = named && (await tx.em.findOne(Member, { workspaceId, status: 'active', ...named }));
  return member && { id: member.id, email: member.email, name: member.name ?? null };
}

async function condition(tx: Tx, workspaceId: string, ref: AuthorRef) {
  if (ref.kind === 'email') return { [lowered('email')]: lower(ref.email.trim()) };
  if (ref.kind === 'user') return { id: lookupId(ref.id) };
  const { externalId } = ref;
  const identity = await tx.em.findOne(Identity, { workspaceId, provider: ref.provider.toLowerCase(), externalId });
  return identity && { id: identity.memberId };
}
