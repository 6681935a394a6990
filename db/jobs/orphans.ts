import type { Db } from '../postgres/orm.ts';

/*
 * SQL: batches of names, each found by an index. `spool_orphans` has files that may be removed: with the time -infinity those of deleted
 * transcriptions and of uploads whose process was killed, noted by triggers; with another time those that a list of the spool found
 * unreferenced, which are checked again some time later.
 */

const BATCH = 200;
const PLACE = 'place in the list of the spool'; // name of the fact

/** A file of the spool. */
export interface Orphan {
  id: string;
  extension: string;
}

/** Files of deleted transcriptions and of killed uploads: whoever should have removed them may have been killed. */
export async function deletedMedia(db: Db): Promise<Orphan[]> {
  const rows = await db.query<{ name: string }>(
    '*',
    `select o.name from spool_orphans o where o.seen_at = '-infinity'
       and not exists (select from transcriptions t where t.id = split_part(o.name, '.', 1)::uuid and t.media_key_sealed is not null)
     order by o.looked_at limit ${BATCH}`,
  );
  return rows.map(({ name }) => toOrphan(name));
}

/** Notes which of the listed files are unreferenced. */
export async function noteOrphans(db: Db, files: readonly Orphan[]): Promise<void> {
  const free = new Set(await unneeded(db, [...new Set(files.map(({ id }) => id))]));
  const names = files.filter(({ id }) => free.has(id)).map(nameOf);
  if (names.length) await db.query('*', 'insert into spool_orphans (name) select unnest(?::text[]) on conflict (name) do nothing', [names]);
}

/** Files noted at least `seconds` ago that are still unreferenced. Forgets the others. */
export async function abandoned(db: Db, seconds: number): Promise<Orphan[]> {
  const rows = await db.query<{ name: string }>(
    '*',
    `select o.name from spool_orphans o where o.seen_at > '-infinity' and o.seen_at <= now() - ?::float8 * interval '1 second'
     order by o.seen_at limit ${BATCH}`,
    [seconds],
  );
  const files = rows.map(({ name }) => toOrphan(name));
  const free = new Set(await unneeded(db, [...new Set(files.map(({ id }) => id))]));
  await forgetOrphans(
    db,
    files.filter(({ id }) => !free.has(id)),
  );
  return files.filter(({ id }) => free.has(id));
}

/** Forgets files that no longer exist or are referenced. */
export async function forgetOrphans(db: Db, files: readonly Orphan[]): Promise<void> {
  if (files.length) await db.query('*', 'delete from spool_orphans where name = any (?::text[])', [files.map(nameOf)]);
}

/** Moves files that could not be removed behind the others, which must not wait for them. */
export async function postponeOrphans(db: Db, files: readonly Orphan[]): Promise<void> {
  await db.query(
    '*',
    `update spool_orphans set looked_at = now(), seen_at = case when seen_at = '-infinity' then seen_at else now() end where name = any (?::text[])`,
    [files.map(nameOf)],
  );
}

/** The ids of spool files that nothing references: no queued or running transcription, no upload in progress. */
export async function unneeded(db: Db, ids: readonly string[]): Promise<string[]> {
  const rows = await db.query<{ id: string }>(
    '*',
    `select i.id from unnest(?::uuid[]) i (id)
     where not exists (select from transcriptions t where t.id = i.id and t.media_key_sealed is not null)
       and not exists (select from upload_leases u where u.id = i.id and u.lease_until >= clock_timestamp())`,
    [ids],
  );
  return rows.map(({ id }) => id);
}

/** Where the fleet's list of the spool continues; null: at its beginning. */
export async function listPlace(db: Db): Promise<string | null> {
  const [row] = await db.query<{ name: string }>('*', `select convert_from(value, 'utf8') as name from facts where name = '${PLACE}'`);
  return row?.name || null;
}

export async function setListPlace(db: Db, name: string | null): Promise<void> {
  await db.query(
    '*',
    `insert into facts (name, value) values ('${PLACE}', convert_to(?, 'utf8')) on conflict (name) do update set value = excluded.value`,
    [name ?? ''],
  );
}

function nameOf({ id, extension }: Orphan): string {
  return `${id}.${extension}`;
}

function toOrphan(name: string): Orphan {
  const end = name.indexOf('.');
  return { id: name.slice(0, end), extension: name.slice(end + 1) };
}
