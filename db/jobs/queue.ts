import type { Tx } from '../postgres/orm.ts';

/* SQL: functions of the queue, whose tables have no entities. */

/** The queue's jobs with their payloads: ids of the transcription, the report or preview, the delivery that they are about. */
export type Jobs = {
  /** Wakes an engine or a courier, as do `dispatch`, `report`, `preview` and `describe`: which work it takes is decided by turns, and who owns that by leases. */
  probe: { id: string };
  dispatch: { id: string };
  report: { id: string };
  preview: { id: string };
  describe: { id: string };
  sweep: Record<string, never>;
  tidy: Record<string, never>;
  /** Removes rows of a deleted workspace for a while, and adds itself again. */
  purge: { id: string };
  /** Is the delivery: whoever gets the job makes its next attempt. */
  deliver: { id: string };
};

export interface EnqueueOptions {
  /** A second job with the same key replaces the first while that is waiting. */
  key?: string;
  runAfterSeconds?: number;
  /** Added to that of the kind. */
  priority?: number;
}

/** By kind; the lowest comes first. What somebody waits for goes before what nobody sees; a delivery's own is its place among those of its workspace. */
const PRIORITY: Record<keyof Jobs, number> = {
  sweep: -30,
  preview: -20,
  describe: -20,
  probe: -10,
  dispatch: -10,
  report: 0,
  tidy: 0,
  deliver: 10,
  purge: 20,
};
const ATTEMPTS = 5; // of the queue's own, when an engine dies of a job; our back-off is in the rows

/** Adds a job in the caller's transaction: it exists if and only if the caller's rows do, and wakes an engine at commit. */
export async function enqueue<K extends keyof Jobs>(tx: Tx, name: K, payload: Jobs[K], options: EnqueueOptions = {}): Promise<void> {
  const { key = null, runAfterSeconds = 0, priority = 0 } = options;
  const add = (as: string | null) =>
    tx.row<{ id: string | null }>('select longhand_add_job(?, ?::json, ?, ?, ?, ?) as id', [
      ...[name, JSON.stringify(payload), runAfterSeconds, ATTEMPTS, as, PRIORITY[name] + priority],
    ]);
  // the queue may not take a key that somebody else uses at this moment; a job too many does nothing
  const row = await add(key).then((added) => (added?.id || key === null ? added : add(null)));
  if (!row?.id) throw new Error(`Cannot enqueue the job ${name}: the queue rejected it (job key ${key ?? 'none'}); try again`);
}

/** Adds the job of a report, or moves it: there is one for each that waits. */
export function enqueueReport(tx: Tx, id: string, runAfterSeconds = 0): Promise<void> {
  return enqueue(tx, 'report', { id }, { key: `report:${id}`, runAfterSeconds });
}

/** Adds the job that removes what is left of a deleted workspace. */
export function enqueuePurge(tx: Tx, id: string, runAfterSeconds = 0): Promise<void> {
  return enqueue(tx, 'purge', { id }, { key: `purge:${id}`, runAfterSeconds });
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
