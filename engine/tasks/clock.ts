import { enqueue } from '../../db/jobs/queue.ts';
import type { Db } from '../../db/postgres/orm.ts';
import type { Running } from './run.ts';

/**
 * What happens on a clock, once for the fleet: the queue gives each job to one engine. `sweep` follows itself every 15 s, for the work of a dead engine
 * must go on within two minutes and the queue's clock counts in minutes; that starts it anew where its engine died of it.
 */
export const CRONTAB = `* * * * * sweep ?jobKey=sweep&jobKeyMode=preserve_run_at&max=3
* * * * * tidy ?jobKey=tidy&max=3`;
const SWEEP_SECONDS = 15;

/** What this engine does with each job of the queue. Those of work only wake: who owns it is decided by leases. */
export function tasksOf({ wake, sweeper }: Pick<Running, 'wake' | 'sweeper'>, db: Db) {
  return {
    probe: async () => wake.probe(),
    dispatch: async () => {
      wake.dispatch();
      wake.probe(); // it may have been handed back before it was probed
    },
    report: async () => wake.report(),
    deliver: async () => wake.deliver(),
    tidy: () => sweeper.tidy(),
    async sweep() {
      await sweeper.sweep();
      await db.acrossTenants((tx) => enqueue(tx, 'sweep', {}, { key: 'sweep', runAfterSeconds: SWEEP_SECONDS }));
    },
  };
}
