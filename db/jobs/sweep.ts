import { LEASE } from '../../api/contract/limits.ts';
import { forgetClients } from '../access/oauth-clients.ts';
import { runEach } from '../postgres/each.ts';
import type { Db, Tx } from '../postgres/orm.ts';
import { forgetLayers } from '../reports/layers.ts';
import { forgetPreviews } from '../reports/previews.ts';
import { failReportRow } from '../reports/work.ts';
import { sweepUploads } from '../uploads/accept.ts';
import { failRow, type Media } from './complete.ts';
import { FRACTION, FREE, STAGE } from './leases.ts';
import { enqueue, enqueueReport } from './queue.ts';

/* SQL: batches that skip locked rows, each found by an index range. */

const BATCH = 100;

/**
 * SQL: expired work of one kind, two parameters, given twice: an upper bound on the true time, seconds since 1970, guarding against clock
 * jumps; null for none. First by the table of leases, then, for engines of the previous version, by the rows themselves.
 */
const EXPIRED = {
  leases: `join leases l on l.token = row.lease_token where l.until < least(clock_timestamp(), to_timestamp(?::float8))`,
  rows: `where row.lease_token is not null and row.lease_until < least(clock_timestamp(), to_timestamp(?::float8))`,
};

/** Locks rows of one kind whose lease has expired; rows locked by others are left to the next sweep. */
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

/** Result: work requeued, and work ended because too many engines died on it. */
export interface Reclaimed {
  handedOn: number;
  ended: number;
}

/** Requeues transcriptions whose lease has expired. The third engine death ends one as ENGINE_ERROR. */
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
      if (deaths + 1 < LEASE.engineDeaths) await enqueueReport(tx, id, deaths * 5);
      else {
        await failReportRow(tx, { id, workspaceId }, 'INTERNAL_ERROR');
        ended++;
      }
    }
    return { handedOn: rows.length - ended, ended };
  });
}

/** Counts an engine death; the back-off grows with their number. */
async function bury(tx: Tx, table: 'transcriptions' | 'reports', id: string, deaths: number): Promise<void> {
  const progress = table === 'transcriptions' ? `, stage = ${STAGE}, fraction = ${FRACTION}` : '';
  await tx.rows(
    `update ${table} t set ${FREE}${progress}, deaths = deaths + 1, run_after = clock_timestamp() + ?::int * interval '5 seconds' where id = ?::uuid`,
    [deaths, id],
  );
}

/** Media of finished transcriptions still in the spool, and not kept: the process that should have removed it died. Not of those in `except`. */
export async function leftoverMedia(db: Db, except: readonly string[] = []): Promise<Media[]> {
  const rows = await db.query<{ id: string; workspace_id: string; extension: string }>(
    '*',
    `select t.id, t.workspace_id, t.extension from transcriptions t
     where t.media_key_sealed is not null and t.media_until is null and t.status in ('completed', 'failed', 'insufficient_balance')
       and t.id <> all (?::uuid[])
     limit ${BATCH}`,
    [except],
  );
  return rows.map(({ id, workspace_id, extension }) => ({ id, workspaceId: workspace_id, extension }));
}

/**
 * Deletes a batch of transcriptions past the retention of their workspace (or of the installation, days), as DELETE does: workspaces one by
 * one, in random order, so that a large one does not keep others waiting, each by an index range; none without a retention. Returns media to
 * remove.
 */
export function expireTranscripts(db: Db, days: number | null): Promise<Media[]> {
  return db.acrossTenants(async (tx) => {
    const rows = await tx.rows<{ id: string; workspace_id: string; extension: string }>(
      `delete from transcriptions where id = any (array(select old.id
         from (select c.id, c.retention_days from workspaces c where least(c.retention_days, ?::int) is not null order by random()) w
         cross join lateral (select t.id from transcriptions t where t.workspace_id = w.id
           and t.status in ('completed', 'failed', 'insufficient_balance')
           and t.created_at < now() - least(w.retention_days, ?::int) * interval '1 day'
           order by t.created_at limit ${BATCH} for update of t skip locked) old
         limit ${BATCH}))
       returning id, workspace_id, extension`,
      [days, days],
    );
    const ids = rows.map(({ id }) => id);
    if (ids.length) await tx.rows('delete from idempotency_keys k where k.transcription_id = any (?::uuid[])', [ids]);
    return rows.map(({ id, workspace_id, extension }) => ({ id, workspaceId: workspace_id, extension }));
  });
}

const MANY = 5000; // rows per sweep, to limit the size of transactions
const old = (table: string, age: string) =>
  `delete from ${table} where id in (select id from ${table} where created_at < now() - interval '${age}' order by created_at limit ${MANY})`;

/**
 * Removes expired rows: uploads and keys of dead API processes, counters, sign-ins, tokens, deliveries, previews. If those of one kind
 * cannot be removed, the others are. `latest`: see `ClockWatch`.
 */
export async function forgetExpired(db: Db, latest: number | null): Promise<void> {
  const statements = [
    // now() is constant within a statement and can use an index, unlike clock_timestamp()
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
    // checkpoints stored while their transcription ended; the table holds running work only
    `delete from checkpoints c using transcriptions t where t.id = c.transcription_id and t.workspace_id = c.workspace_id
       and t.status in ('completed', 'failed', 'insufficient_balance')`,
  ];
  await runEach([
    () => sweepUploads(db, latest),
    ...[forgetPreviews, forgetLayers, forgetClients].map((forget) => () => forget(db)),
    ...statements.map((statement) => () => db.query('*', statement)),
  ]);
}
