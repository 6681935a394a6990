import type { ModelCounts, Writing } from '../jobs/heartbeat.ts';
import type { Db, Tx } from '../postgres/orm.ts';

/* SQL: totals of queued and running work. */

/** Queued and running work: transcriptions and reports by state, with the age of the oldest in seconds. */
export interface Depth {
  kind: 'transcription' | 'report';
  state: 'queued' | 'processing';
  count: number;
  oldest_seconds: number;
}

/** An engine or a courier with a heartbeat within the last minute. */
export interface EngineFact {
  id: string;
  role: 'engine' | 'courier';
  host: string;
  device: string;
  model: string;
  concurrency: number;
  seconds_since_poll: number | null;
  memory_bytes: number;
  failed_diarizations: number;
  /** Seconds of detected speech without words, since its start. */
  uncovered_seconds: number;
  /** By ASR model, where models are chosen by language. */
  recognised: Record<string, ModelCounts>;
  /** Its spool is unavailable: it claims no recordings. */
  trouble: boolean;
  /** Empty for engines of the previous version. */
  writing: Partial<Writing>;
}

/** Metrics of the whole installation. */
export interface Facts {
  depths: Depth[];
  engines: EngineFact[];
  /** Charged so far. */
  minutes: number;
  /** RTFx of the latest recordings; null if there are none. */
  realTimeFactor: number | null;
  uploadsInFlight: number;
}

const ENGINE_SILENCE = `interval '60 seconds'`;
const RECENT = 200; // recordings
/** Seconds for which an API process that was scraped exports the metrics of the installation: longer than a scrape interval. */
export const SOURCE_HELD = 90;

/**
 * Reads the metrics of the installation. Null: another API process, scraped recently, exports them. So each series has one source, however
 * many hosts are scraped; if that one is no longer scraped, the next takes over.
 */
export function readFacts(db: Db, nodeId: string): Promise<Facts | null> {
  return db.acrossTenants(async (tx) => ((await isSource(tx, nodeId)) ? readAll(tx) : null));
}

async function isSource(tx: Tx, nodeId: string): Promise<boolean> {
  const row = await tx.row(
    `insert into metrics_source as s (name, node_id, until) values ('installation', ?::uuid, clock_timestamp() + interval '${SOURCE_HELD} seconds')
     on conflict (name) do update set node_id = excluded.node_id, until = excluded.until
       where s.node_id = excluded.node_id or s.until < clock_timestamp() returning 1`,
    [nodeId],
  );
  return row !== null;
}

async function readAll(tx: Tx): Promise<Facts> {
  return {
    depths: await tx.rows<Depth>(
      `select 'transcription' as kind, status as state, count(*)::int as count,
         extract(epoch from now() - min(created_at))::float8 as oldest_seconds
       from transcriptions where status in ('queued', 'processing') group by status
       union all
       select 'report', status, count(*)::int, extract(epoch from now() - min(created_at))::float8
       from reports where status in ('queued', 'processing') group by status`,
    ),
    engines: await liveEngines(tx),
    minutes: Number((await tx.row<{ sum: string }>('select coalesce(sum(minutes), 0) as sum from charged'))!.sum),
    realTimeFactor: await realTimeFactor(tx),
    uploadsInFlight: (await tx.row<{ count: number }>(
      'select count(*)::int as count from upload_leases where lease_until > clock_timestamp()',
    ))!.count,
  };
}

/** RTFx of the latest recordings of the installation; null if there are none. */
export async function realTimeFactor(tx: Tx): Promise<number | null> {
  const row = await tx.row<{ factor: number | null }>(
    `select (sum(t.duration_seconds) / nullif(sum(extract(epoch from t.completed_at - t.started_at)), 0))::float8 as factor
     from (select transcription_id from ledger where minutes < 0 order by id desc limit ?) l
     join transcriptions t on t.id = l.transcription_id and t.status = 'completed'`,
    [RECENT],
  );
  return row!.factor;
}

function liveEngines(tx: Tx): Promise<EngineFact[]> {
  return tx.rows<EngineFact>(
    `select id, host, device, model, concurrency, extract(epoch from now() - last_poll)::float8 as seconds_since_poll,
       role, memory_bytes::float8 as memory_bytes, failed_diarizations, uncovered_seconds,
       trouble is not null as trouble, writing, recognised
     from engines where last_seen > now() - ${ENGINE_SILENCE} order by started_at`,
  );
}

/**
 * Engines that have polled for work within the last 30 seconds. Rejects if the database does not respond or is read-only, as a former primary
 * is: then no request with a key can be served, because its use is noted.
 */
export async function readyEngines(db: Db): Promise<number> {
  const [row] = await db.query<{ count: number; writable: boolean }>(
    '*',
    `select count(*)::int as count, current_setting('transaction_read_only') = 'off' as writable from engines where role = 'engine' and last_seen > now() - ${ENGINE_SILENCE} and last_poll > now() - interval '30 seconds'`,
  );
  if (!row!.writable) throw new Error('the database is read-only');
  return row!.count;
}
