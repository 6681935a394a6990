import type { Jobs } from '../../db/jobs/queue.ts';
import type { Running } from './run.ts';

/** Handlers for the queue's jobs. Jobs that announce long work only wake this engine: leases decide who owns it. */
export function tasksOf({ wake, purge }: Pick<Running, 'wake' | 'purge'>) {
  return {
    probe: async () => wake.probe(),
    dispatch: async () => {
      wake.dispatch();
      wake.probe(); // it may have been requeued before it was probed
    },
    purge: (payload: unknown) => purge((payload as Jobs['purge']).id),
    // Jobs of the previous version: heartbeats find these tasks (db/jobs/fleet-tasks.ts).
    sweep: async () => {},
    tidy: async () => {},
  };
}
