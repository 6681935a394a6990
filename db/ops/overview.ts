import { type Actor, requireOwner } from '../../api/contract/actor.ts';
import type { Tx } from '../postgres/orm.ts';
import { realTimeFactor } from './facts.ts';

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

const DAYS = 30; // of the figures of a workspace
const SECOND_LOOK = 0.6; // mean confidence below which a transcript is worth a look
const MOST = 10;

/** Charged minutes by day, project and member, time to transcript, and what wants a second look, over the last 30 days. */
export async function insight(tx: Tx, actor: Actor) {
  requireOwner(actor);
  const { workspaceId } = actor;
  const usage = await tx.rows(
    `select to_char(l.created_at at time zone 'utc', 'YYYY-MM-DD') as day, p.name as project, coalesce(t.author_name, t.author_email) as member,
       round(- sum(l.minutes), 2)::float8 as minutes
     from ledger l left join transcriptions t on t.id = l.transcription_id and t.workspace_id = l.workspace_id
     left join projects p on p.id = coalesce(t.project_id, l.project_id) and p.workspace_id = l.workspace_id
     where l.workspace_id = ?::uuid and l.minutes < 0 and l.transcription_id is not null
       and l.created_at >= date_trunc('day', now() at time zone 'utc') at time zone 'utc' - interval '${DAYS - 1} days'
     group by 1, 2, 3 order by 1`,
    [workspaceId],
  );
  const ready = await tx.row<{ p50: number | null; p95: number | null }>(
    `select percentile_cont(0.5) within group (order by s) as p50, percentile_cont(0.95) within group (order by s) as p95
     from (select extract(epoch from t.completed_at - t.created_at)::float8 as s from transcriptions t where t.workspace_id = ?::uuid
       and t.status = 'completed' and t.created_at > now() - interval '${DAYS} days') q`,
    [workspaceId],
  );
  const unsure = await tx.rows<{ id: string; confidence: number }>(
    `select t.id, t.confidence from transcriptions t where t.workspace_id = ?::uuid and t.status = 'completed' and t.confidence is not null
       and t.confidence < ${SECOND_LOOK} order by t.confidence, t.id limit ${MOST}`,
    [workspaceId],
  );
  return { usage, ready, unsure };
}

/** Engines with their hosts, and queued and running work of each workspace, for operators. */
export async function installationLoad(tx: Tx) {
  const engines = await tx.rows(
    `select id, host, version, device, model, concurrency, working, last_seen, last_seen > now() - interval '60 seconds' as alive
     from engines where role = 'engine' and last_seen > now() - interval '1 day' order by last_seen desc limit 50`,
  );
  const workspaces = await tx.rows(
    `select w.id, w.name, count(*) filter (where t.status = 'queued')::int as queued, count(*) filter (where t.status = 'processing')::int as processing,
       extract(epoch from now() - min(t.created_at) filter (where t.status = 'queued'))::int as oldest_seconds
     from transcriptions t join workspaces w on w.id = t.workspace_id where t.status in ('queued', 'processing')
     group by w.id order by count(*) desc, w.id limit 100`,
  );
  const queue = await tx.row(
    `select count(*) filter (where status = 'queued')::int as queued, count(*) filter (where status = 'processing')::int as processing,
       coalesce(extract(epoch from now() - min(created_at) filter (where status = 'queued')), 0)::int as oldest_seconds
     from transcriptions where status in ('queued', 'processing')`,
  );
  return { engines, workspaces, queue, rtfx: await realTimeFactor(tx) };
}
