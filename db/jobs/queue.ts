import type { Tx } from '../postgres/orm.ts';

/* SQL: functions of the queue, whose tables have no entities. */

/** The queue's jobs with their payloads: the id of the transcription, report, preview or delivery. */
export type Jobs = {
  /**
   * Wakes an engine or a courier, as do `dispatch`, `report`, `preview` and `describe`: turns determine which work it claims, and leases
   * who owns that work.
   */
  probe: { id: string };
  dispatch: { id: string };
  report: { id: string };
  preview: { id: string };
  describe: { id: string };
  sweep: Record<string, never>;
  tidy: Record<string, never>;
  /** Removes rows of a deleted workspace for a limited time, then adds itself again. */
  purge: { id: string };
  /** The delivery itself: the worker that gets the job makes its next attempt. */
  deliver: { id: string };
};

export interface EnqueueOptions {
  /** A job with the same key replaces one that is still waiting. */
  key?: string;
  runAfterSeconds?: number;
  /** Added to the priority of the job's kind. */
  priority?: number;
}

/**
 * Priorities by kind, lowest first: work that somebody is waiting for precedes background work. A delivery adds its position among those of
 * its workspace.
 */
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
const ATTEMPTS = 5; // by the queue itself, if an engine dies while running a job; application back-off is stored in the rows

/** Adds a job in the caller's transaction: it exists if and only if the caller's rows do, and wakes an engine at commit. */
export async function enqueue<K extends keyof Jobs>(tx: Tx, name: K, payload: Jobs[K], options: EnqueueOptions = {}): Promise<void> {
  const { key = null, runAfterSeconds = 0, priority = 0 } = options;
  const add = (as: string | null) =>
    tx.row<{ id: string | null }>('select longhand_add_job(?, ?::json, ?, ?, ?, ?) as id', [
      ...[name, JSON.stringify(payload), runAfterSeconds, ATTEMPTS, as, PRIORITY[name] + priority],
    ]);
  // another transaction may be using the key at this moment; an extra job does nothing
  const row = await add(key).then((added) => (added?.id || key === null ? added : add(null)));
  if (!row?.id) throw new Error(`Cannot enqueue the job ${name}: the queue rejected it (job key ${key ?? 'none'}); try again`);
}

/** Adds the job of a report, or reschedules it: each waiting report has one. */
export function enqueueReport(tx: Tx, id: string, runAfterSeconds = 0): Promise<void> {
  return enqueue(tx, 'report', { id }, { key: `report:${id}`, runAfterSeconds });
}

/** Adds the job that removes the remaining data of a deleted workspace. */
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
