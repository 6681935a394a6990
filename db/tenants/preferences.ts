import { type Actor, requireOwner } from '../../api/contract/actor.ts';
import { audit } from '../access/audit.ts';
import type { Tx } from '../postgres/orm.ts';
import type { Vault } from '../secrets/vault.ts';

/** What owners choose for their workspace. */
export interface Preferences {
  /** Names and terms that recognition shall know. */
  vocabulary: string;
  /** Days that transcripts are kept; null: for good. */
  retention_days: number | null;
}

export async function readPreferences(tx: Tx, vault: Vault, actor: Actor): Promise<Preferences> {
  requireOwner(actor);
  const { workspaceId } = actor;
  const row = await tx.row<{ vocabulary_sealed: Buffer | null; retention_days: number | null }>(
    'select vocabulary_sealed, retention_days from workspaces where id = ?',
    [workspaceId],
  );
  const vocabulary = (await vault.text(workspaceId, `workspaces|${workspaceId}|vocabulary`, row!.vocabulary_sealed)) ?? '';
  return { vocabulary, retention_days: row!.retention_days };
}

export async function writePreferences(tx: Tx, vault: Vault, actor: Actor, { vocabulary, retention_days }: Preferences): Promise<void> {
  requireOwner(actor);
  const { workspaceId } = actor;
  const sealed = vocabulary ? await vault.seal(workspaceId, `workspaces|${workspaceId}|vocabulary`, vocabulary) : null;
  await tx.rows('update workspaces set vocabulary_sealed = ?, retention_days = ? where id = ?', [sealed, retention_days, workspaceId]);
  await audit(tx, actor, 'settings.change');
}
