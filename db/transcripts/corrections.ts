import { randomUUID } from 'node:crypto';
import { setImmediate as pause } from 'node:timers/promises';
import { type Actor, requireFullRights } from '../../api/contract/actor.ts';
import { ApiError, forbidden, invalid, notFound } from '../../api/contract/errors.ts';
import { audit } from '../access/audit.ts';
import type { Tx } from '../postgres/orm.ts';
import type { Vault } from '../secrets/vault.ts';
import { lookupId, visible } from '../tenants/visibility.ts';
import { apply, type Change, inverse, type Wish } from './correct.ts';
import { stamp } from './list-row.ts';
import { type Held, hold } from './mutate.ts';
import { openTranscript } from './opened.ts';

/* SQL: versions are counted under the lock of the transcript, and changes are listed under the predicate of all lists. */

/** A stored change. Its author stays readable after the member was removed. */
interface Kept {
  by: { id: string | null; name: string | null; email: string | null };
  change: Change;
}

/** A change as displayed. */
export interface Correction extends Kept {
  /** 1, 2, 3 … within the transcript. */
  version: number;
  at: string;
}

/** Requested corrections: of title, text and speakers, or undoing an earlier one. */
export interface Corrections {
  /** The newest version that the caller has seen; later changes by others to the same objects are not overwritten. */
  version: number;
  wishes: Wish[];
  /** The version of the change to undo. */
  undo?: number;
}

const LISTED = 500; // changes

/**
 * Corrects a transcript, all or nothing, and stores each change. Throws 404, 403 without the right to change it, 409 before it is
 * completed, and 409 with the conflicting change if somebody else changed the same object since.
 */
export async function correct(tx: Tx, vault: Vault, actor: Actor, id: string, { version, wishes, undo }: Corrections): Promise<void> {
  requireFullRights(actor);
  const held = await hold(tx, actor, id);
  if (!held.editable) throw forbidden();
  const row = await tx.row<{ status: string }>('select t.status from transcriptions t where t.workspace_id = ? and t.id = ?', [
    held.workspaceId,
    held.id,
  ]);
  if (row!.status !== 'completed')
    throw new ApiError('transcription_not_completed', { message: 'Not completed yet: there is no text to correct', retryAfterSeconds: 10 });
  const newest = await newestVersion(tx, held);
  const unseenFrom = undo !== undefined && !wishes.length ? undo : Math.min(version + 1, undo ?? Number.POSITIVE_INFINITY);
  const earlier = await readChanges(tx, vault, held, { from: Math.max(1, Math.min(unseenFrom, newest + 1)) });
  const opened = await openTranscript(tx, vault, held);
  const undone = undo === undefined ? null : earlier.find((one) => one.version === undo);
  if (undone === undefined) throw invalid([{ field: 'undo', message: 'must be the version of a change' }]);
  const gone = earlier.flatMap(({ change }) => change.gone ?? []); // the undone change needs no speaker that only an earlier one removed
  const asked = undone ? [...wishes, inverse(undone.change, gone)] : wishes;
  const made: Change[] = [];
  const unseen: Correction[] = []; // the newest of each corrected object
  for (const wish of asked) {
    await pause(); // comparing long texts takes time, in which others are served
    const change = await apply(opened, wish);
    if (!change) continue; // nothing to change
    const since = undone && wish === asked.at(-1) ? undone.version : version;
    for (const place of change.places) {
      const other = earlier.find((one) => one.version > since && one.change.places.includes(place));
      if (other) unseen.push(other);
    }
    made.push(undone ? { ...change, undoes: undone.version } : change);
  }
  const [first] = unseen.sort((a, b) => a.version - b.version); // then the next ones are newer than it, and shown in turn
  if (first) throw new ApiError('conflict', { detail: { change: shown(first) } });
  if (!made.length) return;
  for (const [index, change] of made.entries()) await keep(tx, vault, held, newest + 1 + index, { by: authorOf(actor), change });
  await opened.save();
  await audit(tx, actor, 'transcription.correct', held.id);
}

function authorOf(actor: Actor): Kept['by'] {
  return actor.kind === 'operator'
    ? { id: null, name: null, email: null }
    : { id: actor.memberId, name: actor.memberName, email: actor.memberEmail };
}

async function keep(tx: Tx, vault: Vault, { workspaceId, id }: Held, version: number, kept: Kept): Promise<void> {
  const correction = randomUUID();
  await tx.rows(
    'insert into corrections (id, workspace_id, transcription_id, version, at, change_sealed) values (?::uuid, ?, ?, ?, clock_timestamp(), ?)',
    [correction, workspaceId, id, version, await vault.seal(workspaceId, `corrections|${correction}|change`, JSON.stringify(kept))],
  );
}

type Corrected = Pick<Held, 'workspaceId' | 'id'>;

/** The version of the newest change; 0: there is none. */
async function newestVersion(tx: Tx, { workspaceId, id }: Corrected): Promise<number> {
  const row = await tx.row<{ version: number }>(
    'select coalesce(max(c.version), 0) as version from corrections c where c.workspace_id = ? and c.transcription_id = ?::uuid',
    [workspaceId, id],
  );
  return row!.version;
}

interface Range {
  /** The oldest version. Default: 1. */
  from?: number;
  /** Maximum number of changes. Default: all. */
  most?: number;
}

/** Reads and decrypts changes, the newest first. There may be many: read only those that are needed. */
async function readChanges(tx: Tx, vault: Vault, { workspaceId, id }: Corrected, { from = 1, most }: Range): Promise<Correction[]> {
  const rows = await tx.rows<{ id: string; version: number; at: string; change_sealed: Buffer }>(
    `select c.id, c.version, ${stamp('c.at')} as at, c.change_sealed from corrections c
     where c.workspace_id = ? and c.transcription_id = ?::uuid and c.version >= ? order by c.version desc limit ?`,
    [workspaceId, id, from, most ?? null],
  );
  return Promise.all(
    rows.map(async (row) => {
      const kept = JSON.parse((await vault.open(workspaceId, `corrections|${row.id}|change`, row.change_sealed)).toString()) as Kept;
      return { version: row.version, at: row.at, ...kept };
    }),
  );
}

/** A change without the data that only undoing needs. */
export function shown({ version, at, by, change }: Correction) {
  const { places: _, words: __, gone: ___, ...told } = change;
  return { version, at, by, ...told };
}

/** The newest corrections, newest first, and the newest version; 0: there are none. Throws 404. */
export async function listChanges(tx: Tx, vault: Vault, actor: Actor, id: string) {
  const { sql, parameters } = visible(actor);
  const row = await tx.row<{ id: string }>(`select t.id from transcriptions t where t.id = ?::uuid and ${sql}`, [
    lookupId(id),
    ...parameters,
  ]);
  if (!row) throw notFound();
  const changes = await readChanges(tx, vault, { workspaceId: actor.workspaceId, id: row.id }, { most: LISTED });
  return { version: changes[0]?.version ?? 0, items: changes.map(shown) };
}
