import { LIMITS } from '../../api/contract/limits.ts';
import { hashOf, newKey } from '../../db/access/credentials.ts';
import type { Db } from '../../db/postgres/orm.ts';
import type { Vault } from '../../db/secrets/vault.ts';

/** Workspaces of one installation. */
export interface Workspaces {
  /** All workspaces except the large one. */
  ids: string[];
  /** The 20 with most rows, whose lists can be opened, with a key each. */
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
const INSERTERS = 2;
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

/**
 * Adds finished transcriptions of the last year, 1 % failed: a new large workspace with 10 % of them (at most 100,000), and the others,
 * whose numbers follow Zipf's law: with 10,000,000, the largest has 1,000,000 and the median 2,900.
 */
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
  await owner.direct('analyze transcriptions');
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

/**
 * Fills the table without its foreign keys and other indexes, which are then made from all rows: millions of rows take minutes instead of
 * an hour.
 */
async function withoutIndexes(owner: Db, fill: () => Promise<void>): Promise<void> {
  const keys = await owner.direct(
    `select conname as name, pg_get_constraintdef(oid) as definition from pg_constraint where conrelid = 'transcriptions'::regclass and contype = 'f'`,
  );
  const indexes = await owner.direct(
    `select c.relname as name, pg_get_indexdef(c.oid) as definition from pg_index i join pg_class c on c.oid = i.indexrelid
     where i.indrelid = 'transcriptions'::regclass and not i.indisunique`,
  );
  for (const { name } of keys) await owner.direct(`alter table transcriptions drop constraint ${name}`);
  for (const { name } of indexes) await owner.direct(`drop index ${name}`);
  await fill();
  for (const { definition } of indexes) await owner.direct(String(definition));
  for (const { name, definition } of keys) await owner.direct(`alter table transcriptions add constraint ${name} ${definition}`);
}

async function insert({ owner }: Access, ids: readonly string[], count: number, status: 'completed' | 'queued'): Promise<void> {
  const waiting = status === 'queued';
  let next = 0;
  const batches = async () => {
    for (let from = next; from < count; from = next) {
      next = Math.min(from + BATCH, count);
      await owner.query('*', ROWS, [waiting, waiting, waiting, ids, ids.length, count, waiting ? '1 hour' : '365 days', from, next - 1]);
    }
  };
  await owner.direct('alter table transcriptions disable trigger user');
  await Promise.all(Array.from({ length: INSERTERS }, batches));
  await owner.direct('alter table transcriptions enable trigger user');
}

/**
 * Parameters: is it queued (three times), workspaces, their number, number of rows, since when, first and last row. Rows are in the order of
 * their time, as those of a real installation. The subquery evaluates random() for every row.
 */
const ROWS = `insert into transcriptions (id, workspace_id, author_id, author_email, status, language, filename_sealed, extension, media_type,
    duration_seconds, external_id, media_key_sealed, probed_at, completed_at, created_at, updated_at)
  select gen_random_uuid(), w.ids[rank], gen_random_uuid(), 'agent@example.org', case when ? then 'queued' when failed then 'failed' else 'completed' end,
    'en', '\\x00', 'mp3', 'audio', seconds, 'call-' || i / 100, case when ? then '\\x00'::bytea end, at, case when not ? then at end, at, at
  from (select ?::uuid[] as ids) w, (
    select i, floor(power(?::int + 1, random()))::int as rank, random() < 0.01 as failed, 20 + 99 * random() as seconds, now() - (1 - (i + random()) / ?::int) * ?::interval as at
    from generate_series(?::bigint, ?::bigint) i) r`;

/** Seals the file names that lists of a workspace open: the first pages of all QUERIES of bench/scale/api.ts. */
async function sealNames({ db, vault }: Access, workspaceId: string): Promise<void> {
  const page = (status: string, rest: string) =>
    `(select id from transcriptions where workspace_id = '${workspaceId}' and status = '${status}' ${rest} limit ${LIMITS.PAGE_DEFAULT})`;
  const newest = 'order by created_at desc, id';
  const pages = [
    ...[page('completed', newest), page('failed', newest), page('completed', 'order by duration_seconds desc nulls last, id')],
    page('completed', `and external_id = 'call-20' ${newest}`),
  ];
  const rows = await db.query<{ id: string }>('*', pages.join(' union '));
  const seal = async ({ id }: { id: string }) => ({
    id,
    sealed: (await vault.seal(workspaceId, `transcriptions|${id}|filename`, 'call.mp3')).toString('hex'),
  });
  const sealed = JSON.stringify(await Promise.all(rows.map(seal)));
  await db.query(
    '*',
    `update transcriptions t set filename_sealed = decode(r.sealed, 'hex') from json_to_recordset(?::json) r(id uuid, sealed text) where t.id = r.id`,
    [sealed],
  );
}
