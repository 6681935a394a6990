import { LEASE } from '../../api/contract/limits.ts';
import { forgetClients } from '../access/oauth-clients.ts';
import type { Db, Tx } from '../postgres/orm.ts';
import { forgetLayers } from '../reports/layers.ts';
import { forgetPreviews } from '../reports/previews.ts';
import { failReportRow } from '../reports/work.ts';
import { sweepUploads } from '../uploads/accept.ts';
import { failRow, type Media } from './complete.ts';
import { FRACTION, FREE, STAGE } from './leases.ts';
import { enqueue } from './queue.ts';

/* SQL: batches that step over what is locked, each found by a range of an index. */

const BATCH = 100;

/**
 * SQL: what the dead held of a kind, two parameters, given twice: the latest time it can be, seconds since 1970, whatever the clock says; null for no bound.
 * First the leases in their table, then those of engines of the version before, in the rows themselves.
 */
const EXPIRED = {
  leases: `join leases l on l.token = row.lease_token where l.until < least(clock_timestamp(), to_timestamp(?::float8))`,
  rows: `where row.lease_token is not null and row.lease_until < least(clock_timestamp(), to_timestamp(?::float8))`,
};

/** Locked rows of one kind whose holder gave no sign of life; what somebody else has locked is left to the next sweep. */
async function lockExpired<T extends object>(
  tx: Tx,
  table: 'transcriptions' | 'reports',
  columns: string,
  latest: number | null,
): Promise<T[]> {
  const open = `row.status in ('queued', 'processing')`;
  const parent = table === 'reports' ? 'join transcriptions t on t.id = row.transcription_id and t.workspace_id = row.workspace_id' : '';
  const lock = `for update of row skip locked${parent && ' for no key update of t skip locked'}`;
  const find = (how: string, alsoLocked: string) =>
    tx.rows<T>(
      `select ${columns} from ${table} row ${parent} ${how} and ${open} order by row.created_at, row.id limit ${BATCH} ${lock}${alsoLocked}`,
      [latest],
    );
  return [...(await find(EXPIRED.leases, ' for update of l skip locked')), ...(await find(EXPIRED.rows, ''))];
}

/** What the dead left: how much was handed on, and how much was ended because too many engines died of it. */
export interface Reclaimed {
  handedOn: number;
  ended: number;
}

/** Frees transcriptions whose holder gave no sign of life. The third death ends one as ENGINE_ERROR. */
export function reclaimTranscriptions(db: Db, latest: number | null = null): Promise<Reclaimed> {
  return db.acrossTenants(async (tx) => {
    const rows = await lockExpired<{ id: string; workspace_id: string; deaths: number; probed: boolean }>(
      tx,
      'transcriptions',
      'row.id, row.workspace_id, row.deaths, row.probed_at is not null as probed',
      latest,
    );
    let ended = 0;
    for (const { id, workspace_id: workspaceId, deaths, probed } of rows) {
      const poison = deaths + 1 >= LEASE.engineDeaths;
      await bury(tx, 'transcriptions', id, deaths);
      if (poison) await failRow(tx, { id, workspaceId }, 'ENGINE_ERROR');
      else if (probed) await enqueue(tx, 'dispatch', { id }, { runAfterSeconds: deaths * 5 });
      else await enqueue(tx, 'probe', { id }, { runAfterSeconds: deaths * 5 });
      if (poison) ended++;
    }
    return { handedOn: rows.length - ended, ended };
  });
}

/** The same for reports; they end as INTERNAL_ERROR. */
export function reclaimReports(db: Db, latest: number | null = null): Promise<Reclaimed> {
  return db.acrossTenants(async (tx) => {
    const rows = await lockExpired<{ id: string; workspace_id: string; deaths: number }>(
      tx,
      'reports',
      'row.id, row.workspace_id, row.deaths',
      latest,
    );
    let ended = 0;
    for (const { id, workspace_id: workspaceId, deaths } of rows) {
      await bury(tx, 'reports', id, deaths);
      if (deaths + 1 < LEASE.engineDeaths) await enqueue(tx, 'report', { id }, { runAfterSeconds: deaths * 5 });
      else {
        await failReportRow(tx, { id, workspaceId }, 'INTERNAL_ERROR');
        ended++;
      }
    }
    return { handedOn: rows.length - ended, ended };
  });
}

/** Counts a death; the work waits the longer the more engines died of it. */
async function bury(tx: Tx, table: 'transcriptions' | 'reports', id: string, deaths: number): Promise<void> {
  const progress = table === 'transcriptions' ? `, stage = ${STAGE}, fraction = ${FRACTION}` : '';
  await tx.rows(
    `update ${table} t set ${FREE}${progress}, deaths = deaths + 1, run_after = clock_timestamp() + ?::int * interval '5 seconds' where id = ?::uuid`,
    [deaths, id],
  );
}

/** Media of ended transcriptions that is still in the spool: its remover died. */
export async function leftoverMedia(db: Db): Promise<Media[]> {
  const rows = await db.query<{ id: string; workspace_id: string; extension: string }>(
    '*',
    `select t.id, t.workspace_id, t.extension from transcriptions t
     where t.media_key_sealed is not null and t.status in ('completed', 'failed', 'insufficient_balance') limit ${BATCH}`,
  );
  return rows.map(({ id, workspace_id, extension }) => ({ id, workspaceId: workspace_id, extension }));
}

/**
 * Of files that were just listed, the names of those that nothing has needed for `seconds`. What is found is remembered in the database, for the next look is
 * another engine's.
 */
export async function abandoned(db: Db, files: readonly { id: string; extension: string }[], seconds: number): Promise<Set<string>> {
  const free = new Set(await unneeded(db, [...new Set(files.map(({ id }) => id))]));
  const nameOf = (file: { id: string; extension: string }) => `${file.id}.${file.extension}`;
  const [orphans, needed] = [files.filter(({ id }) => free.has(id)).map(nameOf), files.filter(({ id }) => !free.has(id)).map(nameOf)];
  return db.acrossTenants(async (tx) => {
    await tx.rows('delete from spool_orphans o where o.name = any (?::text[])', [needed]);
    const rows = await tx.rows<{ name: string }>(
      `with found as (insert into spool_orphans as o (name) select n from unnest(?::text[]) n
         on conflict (name) do update set looked_at = now() returning o.name, o.seen_at)
       select name from found where seen_at <= now() - ?::float8 * interval '1 second'`,
      [orphans, seconds],
    );
    return new Set(rows.map(({ name }) => name));
  });
}

/** Forgets files that are gone. */
export async function forgetOrphans(db: Db, names: readonly string[]): Promise<void> {
  await db.query('*', `delete from spool_orphans where name = any (?::text[]) or looked_at < now() - interval '1 hour'`, [names]);
}

/** Of these spool files' ids, those that nothing needs: no waiting or running transcription, no upload in flight. */
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

/**
 * Removes transcriptions past the retention of their workspace (or of the installation, days), as by DELETE: workspaces one by one, each by a range of an
 * index; none where nothing limits their age. Returns media left to remove.
 */
export function expireTranscripts(db: Db, days: number | null): Promise<Media[]> {
  return db.acrossTenants(async (tx) => {
    const rows = await tx.rows<{ id: string; workspace_id: string; extension: string }>(
      `delete from transcriptions where id in (select old.id from workspaces w
         cross join lateral (select t.id from transcriptions t where t.workspace_id = w.id
           and t.status in ('completed', 'failed', 'insufficient_balance')
           and t.created_at < now() - least(w.retention_days, ?::int) * interval '1 day'
           order by t.created_at limit ${BATCH} for update of t skip locked) old
         where least(w.retention_days, ?::int) is not null limit ${BATCH})
       returning id, workspace_id, extension`,
      [days, days],
    );
    const ids = rows.map(({ id }) => id);
    if (ids.length) await tx.rows('delete from idempotency_keys k where k.transcription_id = any (?::uuid[])', [ids]);
    return rows.map(({ id, workspace_id, extension }) => ({ id, workspaceId: workspace_id, extension }));
  });
}

const MANY = 5000; // rows a sweep: no transaction becomes large
const old = (table: string, age: string) =>
  `delete from ${table} where id in (select id from ${table} where created_at < now() - interval '${age}' order by created_at limit ${MANY})`;

/** Removes what has run out: uploads and keys of dead API processes, counters, sign-ins, tokens, deliveries, previews. */
export async function forgetExpired(db: Db): Promise<void> {
  await sweepUploads(db);
  await forgetPreviews(db);
  await forgetLayers(db);
  await forgetClients(db);
  const statements = [
    // now(), which holds for a statement: an index finds what lies before it, as it cannot for clock_timestamp()
    `delete from counters where day < (now() at time zone 'utc')::date - 2`,
    `delete from deletions where at < now() - interval '1 hour'`,
    `delete from rates where refilled_at < now() - interval '1 day'`,
    'delete from sessions where expires_at < now()',
    `delete from sign_in_links where expires_at < now() - interval '1 day'`,
    `delete from audit_log where at < now() - interval '2 years'`,
    `delete from invitations where accepted_at is null and expires_at < now() - interval '30 days'`,
    `delete from oauth_codes where expires_at < now() - interval '1 day'`,
    `delete from oauth_tokens where expires_at < now() - interval '30 days'`,
    old('deliveries', '30 days'),
    old('notifications', '90 days'),
    // a chunk that was kept while its transcription ended; the table holds running work only
    `delete from checkpoints c using transcriptions t where t.id = c.transcription_id and t.workspace_id = c.workspace_id
       and t.status in ('completed', 'failed', 'insufficient_balance')`,
  ];
  for (const statement of statements) await db.query('*', statement);
}
