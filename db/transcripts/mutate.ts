import type { Actor } from '../../api/contract/actor.ts';
import { ApiError, forbidden, notFound } from '../../api/contract/errors.ts';
import { audit } from '../access/audit.ts';
import { NEXT_CHANGE } from '../postgres/expressions.ts';
import { lockNamed } from '../postgres/locks.ts';
import type { Tx } from '../postgres/orm.ts';
import type { AuthorRow } from '../tenants/authors.ts';
import { editable, lookupId, visible } from '../tenants/visibility.ts';

/* SQL: rows are locked under the predicate of all lists. */

/** A transcription locked for a change until the transaction ends. */
export interface Held {
  id: string;
  workspaceId: string;
  extension: string;
  /** Whether the actor may change it; a key can always reassign what it uploaded itself. */
  editable: boolean;
  uploadedByKey: boolean;
  /** The creator of the key that uploaded it; null if unknown. */
  creatorId: string | null;
}

/** Locks a transcription that the actor can see. Throws the uniform 404. */
export async function hold(tx: Tx, actor: Actor, id: string): Promise<Held> {
  const [see, edit] = [visible(actor), editable(actor)];
  const row = await tx.row<{ id: string; extension: string; editable: boolean; key_id: string | null; creator_id: string | null }>(
    `select t.id, t.extension, (${edit.sql}) as editable, t.key_id, t.creator_id
     from transcriptions t where t.id = ?::uuid and ${see.sql} for update of t`,
    [...edit.parameters, lookupId(id), ...see.parameters],
  );
  if (!row) throw notFound();
  return {
    id: row.id,
    workspaceId: actor.workspaceId,
    extension: row.extension,
    editable: row.editable,
    uploadedByKey: actor.kind === 'key' && row.key_id === actor.keyId,
    creatorId: row.creator_id,
  };
}

/** Makes `author` the author of a transcription, in any status. Throws 403 for a key that neither may change it nor uploaded it. */
export async function reassignAuthor(tx: Tx, actor: Actor, held: Held, author: AuthorRow): Promise<void> {
  if (!held.editable && !held.uploadedByKey) throw forbidden();
  await tx.rows(
    `update transcriptions t set author_id = ?, author_email = ?, author_name = ?, updated_at = ${NEXT_CHANGE} where t.workspace_id = ? and t.id = ?`,
    [author.id, author.email, author.name, held.workspaceId, held.id],
  );
  await audit(tx, actor, 'transcription.author', held.id);
}

/** Whether the actor may change a transcription. Throws 404. */
export async function mayEdit(tx: Tx, actor: Actor, id: string): Promise<boolean> {
  const [see, edit] = [visible(actor), editable(actor)];
  const row = await tx.row<{ editable: boolean }>(
    `select (${edit.sql}) as editable from transcriptions t where t.id = ?::uuid and ${see.sql}`,
    [...edit.parameters, lookupId(id), ...see.parameters],
  );
  if (!row) throw notFound();
  return row.editable;
}

/**
 * Deletes a transcription with its segments, reports, reservation, checkpoints and idempotency row. An engine working on it loses its
 * lease. The caller removes the spool file after the commit. Throws 404, or 403 without the right to change it.
 */
export async function remove(tx: Tx, actor: Actor, id: string): Promise<{ id: string; extension: string }> {
  const held = await hold(tx, actor, id);
  if (!held.editable) throw forbidden();
  await tx.rows('delete from idempotency_keys i where i.workspace_id = ? and i.transcription_id = ?', [actor.workspaceId, held.id]);
  await tx.rows('delete from transcriptions t where t.workspace_id = ? and t.id = ?', [actor.workspaceId, held.id]);
  await audit(tx, actor, 'transcription.delete', held.id);
  return { id: held.id, extension: held.extension };
}

/**
 * Counts a deletion in the key's sliding window of one minute, by the database's clock, across hosts. Runs in its own transaction, so that
 * refused requests count too. Throws `delete_rate_exceeded` with the seconds until the oldest request leaves the window.
 */
export async function countDelete(tx: Tx, subject: string, perMinute: number): Promise<void> {
  await lockNamed(tx, `deletions ${subject}`);
  // times in the future are from before the clock was set back: they would count until it has caught up
  await tx.rows(
    `delete from deletions d where d.subject = ?::uuid
       and (d.at <= clock_timestamp() - interval '1 minute' or d.at > clock_timestamp() + interval '1 second')`,
    [subject],
  );
  const row = await tx.row<{ count: number; wait: number | null }>(
    `select count(*)::int as count, ceil(extract(epoch from min(d.at) + interval '1 minute' - clock_timestamp()))::int as wait
     from (select at from deletions where subject = ?::uuid order by at desc limit ?) d`,
    [subject, perMinute],
  );
  if (row!.count >= perMinute) throw new ApiError('delete_rate_exceeded', { retryAfterSeconds: Math.max(1, row!.wait ?? 1) });
  await tx.rows('insert into deletions (subject, at) values (?::uuid, clock_timestamp())', [subject]);
}
