import type { Actor } from '../../api/contract/actor.ts';
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

/** The active member of this workspace that `ref` names, or null: unknown, foreign, pending, removed and unlinked members give the same answer. */
export function findAuthor(tx: Tx, actor: Actor, ref: AuthorRef): Promise<AuthorRow | null> {
  const [sql, parameters] = naming(ref);
  if (parameters.some((value) => value.includes('\0'))) return Promise.resolve(null);
  return tx.row<AuthorRow>(
    `select m.id, m.email, m.name from members m where m.workspace_id = ? and m.status = 'active' and ${sql} limit 1`,
    [actor.workspaceId, ...parameters],
  );
}

function naming(ref: AuthorRef): [string, string[]] {
  switch (ref.kind) {
    case 'email':
      return ['lower(m.email) = lower(?)', [ref.email.trim()]];
    case 'user':
      return ['m.id = ?', [lookupId(ref.id)]];
    case 'external':
      return [
        'm.id in (select i.member_id from identities i where i.workspace_id = m.workspace_id and i.provider = ? and i.external_id = ?)',
        [ref.provider.toLowerCase(), ref.externalId],
      ];
  }
}
