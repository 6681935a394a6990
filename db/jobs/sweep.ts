import { LEASE } from '../../api/contract/limits.ts';
import { forgetClients } from '../access/oauth-clients.ts';
import type { Db, Tx } from '../postgres/orm.ts';
import { forgetPreviews } from '../reports/previews.ts';
import { failReportRow } from '../reports/work.ts';
import { sweepUploads } from '../uploads/accept.ts';
import { failRow, type Media } from './complete.ts';
import { FREE } from './leases.ts';
import { enqueue } from './queue.ts';

const BATCH = 100;
/** SQL: the holder gave no sign of life. One parameter: the latest time it can be, seconds since 1970, whatever the clock says; null for no bound. */
const expired = (row: 't' | 'r') =>
  `${row}.lease_token is not null and ${row}.lease_until < least(clock_timestamp(), to_timestamp(?::float8))`;

/** What the dead left: how much was handed on, and how much was ended because too many engines died of it. */
export interface Reclaimed {
  handedOn: number;
  ended: number;
}

/** Frees transcriptions whose holder gave no sign of life. The third death ends one as ENGINE_ERROR. */
export function reclaimTranscriptions(db: Db, latest: number | null = null): Promise<Reclaimed> {
  return db.acrossTenants(async (tx) => {
    const rows = await tx.rows<{ id: string; workspace_id: string; status: string; deaths: number; probed: boolean }>(
      `select id, workspace_id, status, deaths, probed_at is not null as probed from transcriptions t
       where ${expired('t')} and status in ('queued', 'processing') order by lease_until limit ${BATCH} for update skip locked`,
      [latest],
    );
    let ended = 0;
    for (const { id, workspace_id: workspaceId, deaths, probed } of rows) {
      const poison = deaths + 1 >= LEASE.engineDeaths;
      await bury(tx, 'transcriptions', id, deaths);
      if (poison) await failRow(tx, { id, workspaceId }, 'ENGINE_ERROR');
      else if (probed) await enqueue(tx, 'dispatch', {}, { runAfterSeconds: deaths * 5 });
      else await enqueue(tx, 'probe', { id }, { runAfterSeconds: deaths * 5 });
      if (poison) ended++;
    }
    return { handedOn: rows.length - ended, ended };
  });
}

/** The same for reports; they end as INTERNAL_ERROR. */
export function reclaimReports(db: Db, latest: number | null = null): Promise<Reclaimed> {
  return db.acrossTenants(async (tx) => {
    const rows = await tx.rows<{ id: string; workspace_id: string; deaths: number }>(
      `select r.id, r.workspace_id, r.deaths from reports r join transcriptions t on t.id = r.transcription_id and t.workspace_id = r.workspace_id
       where ${expired('r')} and r.status in ('queued', 'processing')
       order by r.lease_until limit ${BATCH} for update of r skip locked for no key update of t skip locked`,
      [latest],
    );
    let ended = 0;
    for (const { id, workspace_id: workspaceId, deaths } of rows) {
      await bury(tx, 'reports', id, deaths);
      if (deaths + 1 < LEASE.engineDeaths) await enqueue(tx, 'report', {}, { runAfterSeconds: deaths * 5 });
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
  await tx.rows(
    `update ${table} set ${FREE}, deaths = deaths + 1, run_after = clock_timestamp() + ?::int * interval '5 seconds' where id = ?::uuid`,
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

/** Removes transcriptions past the retention of their workspace (or of the installation, days), as by DELETE. Returns media left to remove. */
export function expireTranscripts(db: Db, days: number | null): Promise<Media[]> {
  return db.acrossTenants(async (tx) => {
    const rows = await tx.rows<{ id: string; workspace_id: string; extension: string }>(
      `delete from transcriptions where id in (select t.id from transcriptions t join workspaces w on w.id = t.workspace_id
         where t.status in ('completed', 'failed', 'insufficient_balance')
           and t.created_at < clock_timestamp() - least(w.retention_days, ?::int) * interval '1 day'
         limit ${BATCH} for update of t skip locked)
       returning id, workspace_id, extension`,
      [days],
    );
    const ids = rows.map(({ id }) => id);
    if (ids.length) await tx.rows('delete from idempotency_keys k where k.transcription_id = any (?::uuid[])', [ids]);
    return rows.map(({ id, workspace_id, extension }) => ({ id, workspaceId: workspace_id, extension }));
  });
}

/** Removes what has run out: uploads and keys of dead API processes, counters, sign-ins, tokens, deliveries, previews. */
export async function forgetExpired(db: Db): Promise<void> {
  await sweepUploads(db);
  await forgetPreviews(db);
  await forgetClients(db);
  const statements = [
    `delete from counters where day < (now() at time zone 'utc')::date - 2`,
    `delete from deletions where at < clock_timestamp() - interval '1 hour'`,
    `delete from rates where refilled_at < clock_timestamp() - interval '1 day'`,
    'delete from sessions where expires_at < clock_timestamp()',
    `delete from sign_in_links where expires_at < clock_timestamp() - interval '1 day'`,
    `delete from audit_log where at < clock_timestamp() - interval '2 years'`,
    `delete from invitations where accepted_at is null and expires_at < clock_timestamp() - interval '30 days'`,
    `delete from oauth_codes where expires_at < clock_timestamp() - interval '1 day'`,
    `delete from oauth_tokens where expires_at < clock_timestamp() - interval '30 days'`,
    `delete from deliveries where created_at < clock_timestamp() - interval '30 days'`,
    `delete from notifications where created_at < clock_timestamp() - interval '90 days'`,
    `delete from checkpoints c using transcriptions t where t.id = c.transcription_id and t.workspace_id = c.workspace_id
       and t.status in ('completed', 'failed', 'insufficient_balance')`,
  ];
  for (const statement of statements) await db.query('*', statement);
}
