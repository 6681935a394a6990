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
  /** For how many days recordings are kept; 0: they are removed after transcription. */
  keep_recordings_days: number;
}

export async function readPreferences(tx: Tx, vault: Vault, actor: Actor): Promise<Preferences> {
  requireOwner(actor);
  const { workspaceId } = actor;
  const { vocabularySealed, retentionDays, keepRecordingsDays } = await tx.em.findOneOrFail(Workspace, workspaceId);
  const vocabulary = (await vault.text(workspaceId, `workspaces|${workspaceId}|vocabulary`, vocabularySealed ?? null)) ?? '';
  return { vocabulary, retention_days: retentionDays ?? null, keep_recordings_days: keepRecordingsDays };
}

/** For how many days recordings are kept: as long as the workspace wants, at most the operator's `most`. */
export async function keptDays(tx: Tx, workspaceId: string, most: number): Promise<number> {
  const { keepRecordingsDays } = await tx.em.findOneOrFail(Workspace, workspaceId);
  return Math.min(most, keepRecordingsDays);
}

export async function writePreferences(tx: Tx, vault: Vault, actor: Actor, wanted: Preferences): Promise<void> {
  requireOwner(actor);
  const { vocabulary, retention_days, keep_recordings_days } = wanted;
  const { workspaceId } = actor;
  const sealed = vocabulary ? await vault.seal(workspaceId, `workspaces|${workspaceId}|vocabulary`, vocabulary) : null;
  await tx.em.nativeUpdate(
    Workspace,
    { id: workspaceId },
    { vocabularySealed: sealed, retentionDays: retention_days, keepRecordingsDays: keep_recordings_days },
  );
  await audit(tx, actor, 'settings.change');
}
