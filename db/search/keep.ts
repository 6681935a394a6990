import type { Db, Tx } from '../postgres/orm.ts';
import type { Vault } from '../secrets/vault.ts';
import { readSaid } from './said.ts';
import { searchKey, termsOf } from './terms.ts';

/* SQL: claims, and writes bound to them. */

/* Indexes transcripts: when they are stored, and again whenever their words or title change. */

export const BLOCK = 64; // transcripts per block of the lowest level
export const TOP = 3; // level of the largest blocks, 16,384 transcripts: while one is built, its sources exist as well
/** Lease of a transcript that is being indexed: this long at the first attempt, twice as long at the second, and so on. */
export const LEASE_SECONDS = 60;
const ATTEMPTS = 5; // then it is indexed only after its next change

/** Terms of a transcript, and the version of the data key they were hashed with. */
export interface Terms {
  keyVersion: number;
  terms: number[];
}

/** The terms of the words and the title of a transcript, for `keepTerms`. */
export async function hashWords(vault: Vault, workspaceId: string, said: Iterable<string>, title: string): Promise<Terms> {
  const key = await searchKey(vault, workspaceId);
  return { keyVersion: key.version, terms: termsOf(key, said, title) };
}

/** Indexes a transcript under a new number, in the transaction that writes it; its earlier terms are removed. */
export function keepTerms(tx: Tx, workspaceId: string, id: string, { keyVersion, terms }: Terms): Promise<void> {
  return keepAll(tx, workspaceId, keyVersion, [{ id, terms }]);
}

/** As `keepTerms`, for several transcripts at once, numbered in this order. */
export async function keepAll(
  tx: Tx,
  workspaceId: string,
  keyVersion: number,
  transcripts: readonly { id: string; terms: readonly number[] }[],
): Promise<void> {
  await begin(tx, workspaceId, keyVersion);
  const ids = transcripts.map(({ id }) => id);
  await tx.rows('delete from search_documents d where d.workspace_id = ?::uuid and d.transcription_id = any (?::uuid[])', [
    workspaceId,
    ids,
  ]);
  const row = await tx.row<{ last: number }>(
    `update search_states set last_number = last_number + ?::integer, due = due or (last_number + ?::integer) / ${BLOCK} > last_number / ${BLOCK}
     where workspace_id = ?::uuid returning last_number as last`,
    [ids.length, ids.length, workspaceId],
  );
  const numbers = ids.map((_, k) => row!.last - ids.length + 1 + k);
  await tx.rows(
    `insert into search_documents (transcription_id, workspace_id, number)
     select d.id, ?::uuid, d.number from unnest(?::uuid[], ?::integer[]) d (id, number) order by d.number`,
    [workspaceId, ids, numbers],
  );
  await tx.rows(
    `insert into search_fresh (workspace_id, number, terms)
     select ?::uuid, f.number, f.terms::bigint[] from unnest(?::integer[], ?::text[]) f (number, terms)`,
    [workspaceId, numbers, transcripts.map(({ terms }) => `{${terms.join()}}`)],
  );
  await tx.rows('delete from search_waiting w where w.workspace_id = ?::uuid and w.transcription_id = any (?::uuid[])', [workspaceId, ids]);
}

/** Locks the workspace's row until the transaction ends. If the index was hashed with another data key, everything is indexed again. */
async function begin(tx: Tx, workspaceId: string, keyVersion: number): Promise<void> {
  const state = await tx.row<{ key_version: number }>(
    `insert into search_states as s (workspace_id, key_version) values (?::uuid, ?)
     on conflict (workspace_id) do update set last_number = s.last_number returning s.key_version`,
    [workspaceId, keyVersion],
  );
  if (state!.key_version === keyVersion) return;
  await indexAgain(tx, workspaceId);
  await tx.rows('update search_states set key_version = ? where workspace_id = ?::uuid', [keyVersion, workspaceId]);
}

/**
 * Empties the index of a workspace. Its transcripts are indexed again in the background. Each is locked before its rows in the index, as in
 * changes and deletions.
 */
export async function indexAgain(tx: Tx, workspaceId: string): Promise<void> {
  await tx.rows('select 1 from search_states s where s.workspace_id = ?::uuid for update', [workspaceId]);
  await tx.rows(
    `insert into search_waiting (transcription_id, workspace_id) select t.id, t.workspace_id
     from search_documents d join transcriptions t on t.id = d.transcription_id and t.workspace_id = d.workspace_id
     where d.workspace_id = ?::uuid for key share of t on conflict do nothing`,
    [workspaceId],
  );
  for (const table of ['documents', 'fresh', 'blocks', 'gone'])
    await tx.rows(`delete from search_${table} where workspace_id = ?::uuid`, [workspaceId]);
}

/**
 * Indexes up to `most` waiting transcripts, of one workspace or (null) of any. Failures are logged and retried later. Returns the number of
 * claimed transcripts.
 */
export async function indexWaiting(
  db: Db,
  vault: Vault,
  workspaceId: string | null,
  most: number,
  failed: (id: string, error: unknown) => void = () => {},
): Promise<number> {
  const taken = await db.acrossTenants((tx) => take(tx, workspaceId, most));
  for (const one of taken) await indexOne(db, vault, one).catch((error: unknown) => failed(one.id, error));
  return taken.length;
}

async function indexOne(db: Db, vault: Vault, { id, workspace_id: owner, due_at }: Taken): Promise<void> {
  const said = await db.workspace(owner, (tx) => readSaid(tx, vault, owner, id));
  if (!said) return;
  const terms = await hashWords(vault, owner, said.texts, said.title);
  await db.workspace(owner, async (tx) => {
    if (await isTaken(tx, owner, id, due_at)) await keepTerms(tx, owner, id, terms);
  });
}

interface Taken {
  id: string;
  workspace_id: string;
  due_at: string;
}

/** Claims those that have waited longest, with a lease: if the process dies, others take over, and each attempt comes later. */
function take(tx: Tx, workspaceId: string | null, most: number): Promise<Taken[]> {
  const [of, parameters] = workspaceId ? ['w.workspace_id = ?::uuid and', [workspaceId]] : ['', []];
  return tx.rows<Taken>(
    `update search_waiting q set attempt = q.attempt + 1,
       due_at = case when q.attempt < ${ATTEMPTS} then now() + (q.attempt + 1) * interval '${LEASE_SECONDS} seconds' else 'infinity' end
     from (select w.transcription_id from search_waiting w where ${of} w.due_at <= now() order by w.due_at limit ? for update skip locked) due
     where q.transcription_id = due.transcription_id returning q.transcription_id as id, q.workspace_id, q.due_at`,
    [...parameters, most],
  );
}

/**
 * Locks a claimed transcript. False: it was deleted, or changed in the meantime and must be read again. The transcription comes first, as in
 * changes and deletions; if one is under way, it makes the transcript due again, or the claim expires.
 */
async function isTaken(tx: Tx, workspaceId: string, id: string, dueAt: string): Promise<boolean> {
  const free = await tx.row('select 1 from transcriptions t where t.workspace_id = ?::uuid and t.id = ?::uuid for key share skip locked', [
    workspaceId,
    id,
  ]);
  if (!free) return false;
  const row = await tx.row(
    'select 1 from search_waiting w where w.workspace_id = ?::uuid and w.transcription_id = ?::uuid and w.due_at = ?::timestamptz for update',
    [workspaceId, id, dueAt],
  );
  return row !== null;
}

/** Whether transcripts are waiting to be indexed, and blocks to be merged. */
export async function searchWork(db: Db): Promise<{ waiting: boolean; blocks: boolean }> {
  const [row] = await db.query<{ waiting: boolean; blocks: boolean }>(
    '*',
    `select exists (select from search_waiting w where w.due_at <= now()) as waiting,
       exists (select from search_states s where s.due and s.merged_until <= now()) as blocks`,
  );
  return row!;
}
