import type { Actor } from '../../api/contract/actor.ts';
import { KEPT_UNTIL } from '../jobs/kept.ts';
import type { Tx } from '../postgres/orm.ts';
import type { Vault } from '../secrets/vault.ts';
import { lookupId, visible } from '../tenants/visibility.ts';

/* SQL: the predicate of all lists, and the term by the database's clock. */

/** A kept recording in the spool. */
export interface Recording {
  id: string;
  extension: string;
  /** Of the file in the spool. */
  key: Buffer;
  bytes: number;
  mediaType: 'audio' | 'video' | null;
  /** As uploaded, sanitised. */
  filename: string;
  until: Date;
}

/** The recording of a transcription, or null if the actor cannot see it or none is kept. `keepDays`: the operator's maximum. */
export async function findRecording(tx: Tx, vault: Vault, actor: Actor, id: string, keepDays: number): Promise<Recording | null> {
  const { sql, parameters } = visible(actor);
  const row = await tx.row<{
    id: string;
    workspace_id: string;
    extension: string;
    media_key_sealed: Buffer;
    media_bytes: string;
    media_type: Recording['mediaType'];
    filename_sealed: Buffer;
    until: Date;
  }>(
    `select t.id, t.workspace_id, t.extension, t.media_key_sealed, t.media_bytes, t.media_type, t.filename_sealed, ${KEPT_UNTIL} as until
     from transcriptions t join workspaces w on w.id = t.workspace_id
     where t.id = ?::uuid and ${sql} and t.media_key_sealed is not null and t.media_until is not null and ${KEPT_UNTIL} > clock_timestamp()`,
    [keepDays, lookupId(id), ...parameters, keepDays],
  );
  if (!row) return null;
  const place = `transcriptions|${row.id}`;
  return {
    ...{ id: row.id, extension: row.extension, bytes: Number(row.media_bytes), mediaType: row.media_type, until: new Date(row.until) },
    key: await vault.open(row.workspace_id, `${place}|media_key`, row.media_key_sealed),
    filename: (await vault.text(row.workspace_id, `${place}|filename`, row.filename_sealed))!,
  };
}
