import { LEASE } from '../../api/contract/limits.ts';
import type { Db } from '../postgres/orm.ts';
import { type FleetTask, TAKE_TASKS } from './fleet-tasks.ts';

/* SQL: a heartbeat and everything a process asks periodically in one statement, because hundreds of processes send it. */

/** Metrics sent with each heartbeat. */
export interface Vitals {
  /** It has just polled for work successfully. */
  polled: boolean;
  /** Why it claims no recordings; null if it does. */
  trouble: string | null;
  memoryBytes: number;
  /** Transcriptions in progress. */
  working: number;
  /** Finished since its start. */
  finished: number;
  failedDiarizations: number;
  /** Of detected speech for which no words were found. */
  uncoveredSeconds: number;
  /** By ASR model, where models are chosen by language. */
  recognised: Record<string, ModelCounts>;
  /** Set by a courier. */
  writing: Writing | null;
}

/** Seconds of speech since the start of an engine. */
export interface ModelCounts {
  /** Recognised by the model. */
  seconds: number;
  /** Recognised by another one, because this one failed or was unsure. */
  failed: number;
  unsure: number;
}

/** Metrics of its report writer since its start. */
export interface Writing {
  /** Or `built-in`. */
  model: string;
  /** Calls of the language model by outcome. */
  calls: Record<string, number>;
  promptTokens: number;
  completionTokens: number;
  seconds: number;
  /** Hallucinated quotations and times. */
  dropped: number;
}

/** Available work, by kind. */
export interface Waiting {
  probes: boolean;
  transcriptions: boolean;
  reports: boolean;
  previews: boolean;
  /** Transcripts to index, or blocks of the search index to merge. */
  searches: boolean;
  layers: boolean;
}

/** Answer of the database to a heartbeat. */
export interface News {
  /** False: it was taken for dead and must register again. */
  known: boolean;
  /** Number of processes of its role with a recent heartbeat. */
  living: number;
  /** Those that have a free slot for a transcription. */
  idle: number;
  /** The id of the current spool; null if none was ever created. */
  mark: string | null;
  /** Tasks of the whole fleet that it must run now: nobody else does. */
  tasks: FleetTask[];
  waiting: Waiting;
}

/** SQL: work without a lease, for what lost its job. Each part ends at the first row of an index. */
const WAITING = `exists (select from turns q where q.lane = 'probe' and q.due_at <= now()) as probes,
  exists (select from turns q where q.lane <> 'probe' and not q.busy and q.due_at <= now()) as transcriptions,
  exists (select from report_turns r where r.due_at <= now()) as reports,
  exists (select from previews p where p.status in ('queued', 'processing') and p.lease_token is null and p.run_after <= now()) as previews,
  exists (select from search_waiting w where w.due_at <= now()) or exists (select from search_states s where s.due and s.merged_until <= now()) as searches,
  exists (select from layers l where l.status = 'queued') as layers`;

/** Records a heartbeat and returns what is new for the process. An engine also takes due tasks of the fleet; a courier does not. */
export async function beat(db: Db, engineId: string, vitals: Vitals): Promise<News> {
  const [row] = await db.query<Waiting & Omit<News, 'waiting'>>(
    '*',
    `with beat as (update engines set last_seen = clock_timestamp(), last_poll = case when ? then clock_timestamp() else last_poll end,
         trouble = ?, memory_bytes = ?, working = ?, finished = ?, failed_diarizations = ?, uncovered_seconds = ?,
         writing = ?::jsonb, recognised = ?::jsonb where id = ?::uuid returning 1),
       ${vitals.writing ? '' : `taken as (${TAKE_TASKS}),`}
       fleet as (select count(*)::int as living, (count(*) filter (where e.working < e.concurrency and e.trouble is null))::int as idle from engines e
         where e.role = ? and e.last_seen > clock_timestamp() - interval '${LEASE.expirySeconds} seconds')
     select exists (select from beat) as known, f.living, f.idle, (select convert_from(value, 'utf8') from facts where name = 'spool') as mark,
       ${vitals.writing ? `'{}'::text[]` : 'array(select name from taken)'} as tasks, ${WAITING} from fleet f`,
    [
      vitals.polled,
      vitals.trouble,
      vitals.memoryBytes,
      vitals.working,
      vitals.finished,
      vitals.failedDiarizations,
      vitals.uncoveredSeconds,
      JSON.stringify(vitals.writing ?? {}),
      JSON.stringify(vitals.recognised),
      engineId,
      vitals.writing ? 'courier' : 'engine',
    ],
  );
  const { known, living, idle, mark, tasks, ...waiting } = row!;
  return { known, living, idle, mark, tasks, waiting };
}
