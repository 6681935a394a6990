import { enqueue, type Jobs } from '../../db/jobs/queue.ts';
import type { Db } from '../../db/postgres/orm.ts';
import type { Running } from './run.ts';

/**
 * Scheduled tasks, run once for the whole fleet: the queue gives each job to one engine. `sweep` reschedules itself every 15 s, because the
 * work of a dead engine must resume within two minutes and cron has a resolution of a minute; the cron entry restarts the chain if the
 * engine that ran it died.
 */
export const CRONTAB = `* * * * * sweep ?jobKey=sweep&jobKeyMode=preserve_run_at&max=3
* * * * * tidy ?jobKey=tidy&max=3`;
const SWEEP_SECONDS = 15;

/** Handlers for the queue's jobs. Jobs that announce long work only wake this engine: leases decide who owns it. */
export function tasksOf({ wake, purge, sweeper }: Pick<Running, 'wake' | 'purge' | 'sweeper'>, db: Db) {
  return {
    probe: async () => wake.probe(),
    dispatch: async () => {
      wake.dispatch();
      wake.probe(); // it may have been requeued before it was probed
    },
    purge: (payload: unknown) => purge((payload as Jobs['purge']).id),
    tidy: () => sweeper.tidy(),
    async sweep() {
      await sweeper.sweep();
      await db.acrossTenants((tx) => enqueue(tx, 'sweep', {}, { key: 'sweep', runAfterSeconds: SWEEP_SECONDS }));
    },
  };
}
