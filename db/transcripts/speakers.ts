import { type Actor, requireFullRights } from '../../api/contract/actor.ts';
import { forbidden, notFound } from '../../api/contract/errors.ts';
import { audit } from '../access/audit.ts';
import { NEXT_CHANGE } from '../postgres/expressions.ts';
import type { Tx } from '../postgres/orm.ts';
import type { Vault } from '../secrets/vault.ts';
import type { StoredSpeaker } from './list-row.ts';
import { hold } from './mutate.ts';

/* SQL: a row is locked under the predicate of all lists. */

/**
 * Gives a speaker a name that overrides the AI layer's; null removes it. Throws 404, or 403 without the right to change the transcription.
 */
export async function renameSpeaker(tx: Tx, vault: Vault, actor: Actor, id: string, speakerId: string, name: string | null): Promise<void> {
  requireFullRights(actor);
  const held = await hold(tx, actor, id);
  if (!held.editable) throw forbidden();
  const place = `transcriptions|${held.id}|speakers`;
  const row = await tx.row<{ speakers_sealed: Buffer | null }>(
    'select speakers_sealed from transcriptions where workspace_id = ? and id = ?',
    [actor.workspaceId, held.id],
  );
  const speakers = JSON.parse((await vault.text(actor.workspaceId, place, row!.speakers_sealed)) ?? '[]') as StoredSpeaker[];
  const speaker = speakers.find((one) => one.id === speakerId);
  if (!speaker) throw notFound();
  speaker.name = name;
  const sealed = await vault.seal(actor.workspaceId, place, JSON.stringify(speakers));
  await tx.rows(`update transcriptions t set speakers_sealed = ?, updated_at = ${NEXT_CHANGE} where t.workspace_id = ? and t.id = ?`, [
    sealed,
    actor.workspaceId,
    held.id,
  ]);
  await audit(tx, actor, 'transcription.speaker', held.id);
}
