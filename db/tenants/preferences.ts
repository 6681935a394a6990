import { type Actor, requireOwner } from '../../api/contract/actor.ts';
import { audit } from '../access/audit.ts';
import { Workspace } from '../postgres/entities/workspace.ts';
import type { Tx } from '../postgres/orm.ts';
import type { Vault } from '../secrets/vault.ts';

/** Settings of a workspace made by its owners. */
export interface Preferences {
  /** Names and terms for recognition. */
  vocabulary: string;
  /** Retention of transcripts, days; null: unlimited. */
  retention_days: number | null;
}

export async function readPreferences(tx: Tx, vault: Vault, actor: Actor): Promise<Preferences> {
  requireOwner(actor);
  const { workspaceId } = actor;
  const { vocabularySealed, retentionDays } = await tx.em.findOneOrFail(Workspace, workspaceId);
  const vocabulary = (await vault.text(workspaceId, `workspaces|${workspaceId}|vocabulary`, vocabularySealed ?? null)) ?? '';
  return { vocabulary, retention_days: retentionDays ?? null };
}

export async function writePreferences(tx: Tx, vault: Vault, actor: Actor, { vocabulary, retention_days }: Preferences): Promise<void> {
  requireOwner(actor);
  const { workspaceId } = actor;
  const sealed = vocabulary ? await vault.seal(workspaceId, `workspaces|${workspaceId}|vocabulary`, vocabulary) : null;
  await tx.em.nativeUpdate(Workspace, { id: workspaceId }, { vocabularySealed: sealed, retentionDays: retention_days });
  await audit(tx, actor, 'settings.change');
}
