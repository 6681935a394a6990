import { hashOf, newKey } from '../../db/access/credentials.ts';
import type { Db } from '../../db/postgres/orm.ts';
import type { Vault } from '../../db/secrets/vault.ts';

/** Workspaces of one installation. */
export interface Workspaces {
  /** All workspaces except the large one. */
  ids: string[];
  /** Those whose rows can be opened and listed, with a key each. */
  callers: { id: string; key: string }[];
  /** The next workspaces to be deleted, each with 10 % of the rows of its size. */
  large: { id: string }[];
}

interface Access {
  db: Db;
  /** Connection as the owner of the tables, without row-level security. */
  owner: Db;
  vault: Vault;
}

const WORKSPACES = 1_000;
const CALLERS = 20;
const BATCH = 20_000; // rows per statement
const SEALED = 2_000; // file names per statement
const LARGEST = 100_000; // rows of the workspace that is deleted

/** Inserts workspaces with unlimited minutes and concurrency, and a member each. */
export async function makeWorkspaces(db: Db, vault: Vault): Promise<Workspaces> {
  return db.acrossTenants(async (tx) => {
    const rows = await tx.rows<{ id: string }>(
      `insert into workspaces (name, balance_minutes, concurrency) select 'Workspace ' || i, 1e9, 1000 from generate_series(1, ?) i returning id`,
      [WORKSPACES],
    );
    const ids = rows.map(({ id }) => id);
    await tx.rows(`insert into members (workspace_id, email, role) select id, 'owner@example.org', 'owner' from unnest(?::uuid[]) id`, [
      ids,
    ]);
    const callers: Workspaces['callers'] = [];
    for (const id of ids.slice(0, CALLERS)) {
      await vault.createKey(tx, id);
      const key = newKey();
      await tx.rows(
        `insert into api_keys (workspace_id, member_id, hash, hint, scopes) select workspace_id, id, ?, '', '{read}' from members where workspace_id = ?::uuid`,
        [hashOf(key), id],
      );
      callers.push({ id, key });
    }
    return { ids, callers, large: [] };
  });
}

/** Adds finished transcriptions: a new large workspace with 10 % of them (at most 100,000), the rest evenly spread; over a year. */
export async function addRows(access: Access, workspaces: Workspaces, count: number): Promise<void> {
  const { db, owner } = access;
  const [large] = await db.acrossTenants((tx) =>
    tx.rows<{ id: string }>(`insert into workspaces (name, balance_minutes) values ('Large', 1e9) returning id`),
  );
  workspaces.large.push(large!);
  const own = Math.min(LARGEST, Math.floor(count / 10));
  await withoutIndexes(owner, async () => {
    await insert(access, [large!.id], own, 'completed');
    await insert(access, workspaces.ids, count - own, 'completed');
  });
  await db.query(
    '*',
    `insert into segments (workspace_id, transcription_id, block, turns_sealed, words_sealed)
     select workspace_id, id, block, '\\x00', '\\x00' from transcriptions, generate_series(0, 1) block where workspace_id = ?::uuid`,
    [large!.id],
  );
  for (const { id } of workspaces.callers) await sealNames(access, id);
  await db.query('*', 'delete from search_waiting'); // as after their indexing, which has nothing to read here
  await owner.direct('vacuum analyze');
}

/** Adds probed transcriptions that wait for an engine. */
export async function queueRows(access: Access, workspaces: Workspaces, count: number): Promise<void> {
  await insert(access, workspaces.ids, count, 'queued');
  await access.db.query(
    '*',
    `insert into turns (workspace_id, lane) select distinct workspace_id, 'short' from transcriptions where status = 'queued' on conflict do nothing`,
  );
  await access.owner.direct('analyze transcriptions, turns');
}

/** Fills the table without its other indexes, which are then built from all rows: millions of rows take minutes instead of an hour. */
async function withoutIndexes(owner: Db, fill: () => Promise<void>): Promise<void> {
  const indexes = await owner.direct(
    `select c.relname as name, pg_get_indexdef(c.oid) as definition from pg_index i join pg_class c on c.oid = i.indexrelid
     where i.indrelid = 'transcriptions'::regclass and not i.indisunique`,
  );
  for (const { name } of indexes) await owner.direct(`drop index ${name}`);
  await fill();
  for (const { definition } of indexes) await owner.direct(String(definition));
}

async function insert({ owner }: Access, ids: readonly string[], count: number, status: 'completed' | 'queued'): Promise<void> {
  await owner.direct('alter table transcriptions disable trigger user');
  const waiting = status === 'queued';
  for (let from = 0; from < count; from += BATCH) {
    await owner.query(
      '*',
      `insert into transcriptions (id, workspace_id, author_id, author_email, status, language, filename_sealed, extension, media_type, duration_seconds,
         external_id, media_key_sealed, probed_at, completed_at, created_at, updated_at)
       select gen_random_uuid(), w.ids[1 + i % array_length(w.ids, 1)], gen_random_uuid(), 'agent@example.org',
         case when ? then 'queued' when i % 100 = 0 then 'failed' else 'completed' end, 'en', '\\x00', 'mp3', 'audio', 20 + i % 90, 'call-' || i,
         case when ? then '\\x00'::bytea end, at, case when ? then null else at end, at, at
       from (select ?::uuid[] as ids) w, generate_series(?::bigint, ?::bigint) i, lateral (select now() - (random() * 365) * interval '1 day' as at) a`,
      [waiting, waiting, waiting, ids, from, Math.min(from + BATCH, count) - 1],
    );
  }
  await owner.direct('alter table transcriptions enable trigger user');
}

/** Seals the file names of one workspace, which lists open. */
async function sealNames({ db, vault }: Access, workspaceId: string): Promise<void> {
  for (;;) {
    const rows = await db.workspace(workspaceId, (tx) =>
      tx.rows<{ id: string }>(`select id from transcriptions where workspace_id = ?::uuid and filename_sealed = '\\x00' limit ${SEALED}`, [
        workspaceId,
      ]),
    );
    if (!rows.length) return;
    const seal = async ({ id }: { id: string }) => ({
      id,
      sealed: (await vault.seal(workspaceId, `transcriptions|${id}|filename`, 'call.mp3')).toString('hex'),
    });
    const sealed = JSON.stringify(await Promise.all(rows.map(seal)));
    await db.workspace(workspaceId, (tx) =>
      tx.rows(
        `update transcriptions t set filename_sealed = decode(r.sealed, 'hex') from json_to_recordset(?::json) r(id uuid, sealed text)
         where t.id = r.id and t.workspace_id = ?::uuid`,
        [sealed, workspaceId],
      ),
    );
  }
}
