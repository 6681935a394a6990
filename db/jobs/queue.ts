import type { Tx } from '../postgres/orm.ts';

/* SQL: functions of the queue, whose tables are no entities. */

/** The queue's jobs. They only wake an engine: payloads hold ids, and who owns the work is decided by leases. */
export type Jobs = {
  probe: { id: string };
  /** Ids are of the transcription, the report or preview, the webhook's delivery. */
  dispatch: { id: string };
  report: { id: string };
  describe: { id: string };
  sweep: Record<string, never>;
  tidy: Record<string, never>;
  deliver: { id: string };
};

export interface EnqueueOptions {
  /** A second job under the same key replaces the first while that waits. */
  key?: string;
  runAfterSeconds?: number;
  /** Lower comes first; 0 by default. */
  priority?: number;
}

const ATTEMPTS = 5; // of the queue's own; our back-off is in the rows

/** Adds a job in the transaction of the caller: it exists exactly when the caller's rows do, and wakes an engine at commit. */
export async function enqueue<K extends keyof Jobs>(tx: Tx, name: K, payload: Jobs[K], options: EnqueueOptions = {}): Promise<void> {
  const row = await tx.row<{ id: string | null }>('select longhand_enqueue(?, ?::json, ?, ?, ?, ?) as id', [
    name,
    JSON.stringify(payload),
    options.runAfterSeconds ?? 0,
    ATTEMPTS,
    options.key ?? null,
    options.priority ?? 0,
  ]);
  if (!row?.id) throw new Error(`Cannot enqueue the job ${name}: the queue did not take it (job key ${options.key ?? 'none'}); try again`);
}

/** Frees jobs locked by workers that are dead: never call it for living ones. */
export async function unlockWorkers(tx: Tx, workerIds: readonly string[]): Promise<void> {
  await tx.rows('select longhand_unlock_workers(?::text[])', [workerIds]);
}

/** Removes jobs that failed for good. Returns how many there were: each is worth an alert. */
export async function purgeFailedJobs(tx: Tx): Promise<number> {
  return (await tx.row<{ count: number }>('select longhand_purge_jobs() as count'))!.count;
}

/** Whether the fleet's next sweep lies further ahead than it is ever put: the clock of the database was put back. */
export async function isSweepLate(tx: Tx, seconds: number): Promise<boolean> {
  return (await tx.row<{ late: boolean }>('select longhand_sweep_is_late(?::float8) as late', [seconds]))!.late;
}
