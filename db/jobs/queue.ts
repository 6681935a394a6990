import type { Tx } from '../postgres/orm.ts';

/* SQL: functions of the queue, whose tables have no entities. */

/** The queue's jobs. They only wake engines: payloads contain ids, and leases determine who owns the work. */
export type Jobs = {
  probe: { id: string };
  /** Id of the transcription, the report or preview, or the webhook delivery. */
  dispatch: { id: string };
  report: { id: string };
  describe: { id: string };
  sweep: Record<string, never>;
  tidy: Record<string, never>;
  deliver: { id: string };
};

export interface EnqueueOptions {
  /** A second job with the same key replaces the first while that is waiting. */
  key?: string;
  runAfterSeconds?: number;
  /** Lower runs first; default 0. */
  priority?: number;
}

const ATTEMPTS = 5; // of the queue itself; our back-off is in the rows

/** Adds a job in the caller's transaction: it exists if and only if the caller's rows do, and wakes an engine at commit. */
export async function enqueue<K extends keyof Jobs>(tx: Tx, name: K, payload: Jobs[K], options: EnqueueOptions = {}): Promise<void> {
  const row = await tx.row<{ id: string | null }>('select longhand_enqueue(?, ?::json, ?, ?, ?, ?) as id', [
    name,
    JSON.stringify(payload),
    options.runAfterSeconds ?? 0,
    ATTEMPTS,
    options.key ?? null,
    options.priority ?? 0,
  ]);
  if (!row?.id) throw new Error(`Cannot enqueue the job ${name}: the queue rejected it (job key ${options.key ?? 'none'}); try again`);
}

/** Unlocks jobs of dead workers: never call it for live ones. */
export async function unlockWorkers(tx: Tx, workerIds: readonly string[]): Promise<void> {
  await tx.rows('select longhand_unlock_workers(?::text[])', [workerIds]);
}

/** Removes permanently failed jobs. Returns their number; each one deserves an alert. */
export async function purgeFailedJobs(tx: Tx): Promise<number> {
  return (await tx.row<{ count: number }>('select longhand_purge_jobs() as count'))!.count;
}

/** Whether the fleet's next sweep lies further ahead than is ever scheduled: the database's clock was set back. */
export async function isSweepLate(tx: Tx, seconds: number): Promise<boolean> {
  return (await tx.row<{ late: boolean }>('select longhand_sweep_is_late(?::float8) as late', [seconds]))!.late;
}
