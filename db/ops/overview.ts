import { type Actor, requireOwner } from '../../api/contract/actor.ts';
import type { Tx } from '../postgres/orm.ts';

/* SQL: totals by state and hour. */

/** All states, listed so that the index by status and time is used. */
const EVERY = `array['queued', 'processing', 'completed', 'failed', 'insufficient_balance']`;

/** The queue, the last 48 hours and the failures of one workspace. */
export async function overview(tx: Tx, actor: Actor) {
  requireOwner(actor);
  const { workspaceId } = actor;
  const queue = await tx.row(
    `select count(*) filter (where status = 'queued')::int as queued, count(*) filter (where status = 'processing')::int as processing,
       coalesce(extract(epoch from now() - min(created_at) filter (where status = 'queued')), 0)::int as oldest_seconds
     from transcriptions where workspace_id = ? and status in ('queued', 'processing')`,
    [workspaceId],
  );
  const reports = await tx.row(
    `select count(*) filter (where status = 'queued')::int as queued, count(*) filter (where status = 'processing')::int as processing
     from reports where workspace_id = ? and status in ('queued', 'processing')`,
    [workspaceId],
  );
  const hours = await tx.rows(
    `select to_char(hour, 'YYYY-MM-DD"T"HH24:00:00.000"Z"') as hour, coalesce(arrived, 0) as arrived, coalesce(minutes, 0) as minutes,
       coalesce(completed, 0) as completed, coalesce(failed, 0) as failed
     from generate_series(date_trunc('hour', now() at time zone 'utc') - interval '47 hours', now() at time zone 'utc', interval '1 hour') as hour
     left join (select date_trunc('hour', created_at at time zone 'utc') as hour, count(*)::int as arrived from transcriptions
       where workspace_id = ? and status = any(${EVERY}) and created_at > now() - interval '49 hours' group by 1) came using (hour)
     left join (select date_trunc('hour', completed_at at time zone 'utc') as hour,
         coalesce(round((sum(duration_seconds) filter (where status = 'completed') / 60)::numeric, 1), 0)::float8 as minutes,
         count(*) filter (where status = 'completed')::int as completed, count(*) filter (where status <> 'completed')::int as failed
       from transcriptions where workspace_id = ? and status = any(${EVERY}) and created_at > now() - interval '5 days'
         and completed_at > now() - interval '49 hours' group by 1) ended using (hour)
     order by hour`,
    [workspaceId, workspaceId],
  );
  const failures = await tx.rows(
    `select id, error_code, created_at from transcriptions where workspace_id = ? and status = 'failed' order by created_at desc, id desc limit 20`,
    [workspaceId],
  );
  return { queue, reports, hours, failures };
}

/** Engines with their hosts, and queued and running work of each workspace, for operators. */
export async function installationLoad(tx: Tx) {
  const engines = await tx.rows(
    `select id, host, device, model, concurrency, last_seen, last_seen > now() - interval '60 seconds' as alive
     from engines where role = 'engine' and last_seen > now() - interval '1 day' order by last_seen desc limit 50`,
  );
  const workspaces = await tx.rows(
    `select w.id, w.name, count(*) filter (where t.status = 'queued')::int as queued, count(*) filter (where t.status = 'processing')::int as processing,
       extract(epoch from now() - min(t.created_at) filter (where t.status = 'queued'))::int as oldest_seconds
     from transcriptions t join workspaces w on w.id = t.workspace_id where t.status in ('queued', 'processing')
     group by w.id order by count(*) desc, w.id limit 100`,
  );
  return { engines, workspaces };
}
