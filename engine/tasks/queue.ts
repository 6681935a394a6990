import { EventEmitter } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { Logger, type Runner, run, type TaskList, type WorkerEvents } from 'graphile-worker';
import type { Log } from '../../db/ops/log.ts';

const WAKERS = 2; // concurrent jobs: they wake the process, or sweep
const POLL_MS = [5_000, 30_000] as const; // for scheduled jobs; immediate ones arrive by notification
const POLLERS = 4; // processes that poll at the shorter interval; more share these polls, up to the longer one
const PAUSE_MS = 5000; // before reconnecting to the queue after a failure

export interface Listening {
  connectionString: string;
  tasks: TaskList;
  /** Names of jobs without a free slot: they are left to other processes. */
  full: () => string[];
  /** Number of processes that run the same jobs, this one included; default 1. */
  fleet?: () => Promise<number>;
  /** Number of concurrent long jobs, in addition to those that only wake the process. */
  places?: number;
  /** Scheduled tasks, in crontab format. */
  crontab?: string;
  log: Log;
}

/** Interval between polls of one process, so that those of a whole fleet cost the database little: a due job is run by whoever polls first. */
export function pollMs(fleet: number): number {
  const [least, most] = POLL_MS;
  return Math.min(most, Math.max(least, (least * fleet) / POLLERS));
}

/** Runs the queue's jobs as they arrive. Reconnects forever; while the queue is unavailable the process polls. */
export function listen(
  { connectionString, tasks: taskList, full, fleet = async () => 1, places = 0, crontab, log }: Listening,
  onWorkers: (ids: string[]) => Promise<void>,
) {
  let runner: Runner | null = null;
  let stopping = false;
  const logger = new Logger(() => (level, message) => {
    if (level === 'error' || level === 'warning') log.warn({ queue: message.slice(0, 300) }, 'message of the queue');
  });
  const loop = async () => {
    while (!stopping) {
      try {
        const events = new EventEmitter() as WorkerEvents;
        const ids: string[] = [];
        events.on('worker:create', ({ worker }) => ids.push(worker.workerId));
        runner = await run({
          ...{ connectionString, taskList, logger, events, ...(crontab && { crontab }) },
          ...{
            concurrency: WAKERS + places,
            forbiddenFlags: full,
            pollInterval: pollMs(await fleet()),
            noHandleSignals: true,
            noPreparedStatements: true,
          }, // PgBouncer does not support it
        });
        await onWorkers(ids);
        await runner.promise;
      } catch (error) {
        log.warn({ error }, 'cannot connect to the queue; trying again');
      }
      if (!stopping) await sleep(PAUSE_MS);
    }
  };
  const done = loop();
  return {
    async stop() {
      stopping = true;
      await runner?.stop().catch(() => {}); // it may have stopped already
      await Promise.race([done, sleep(PAUSE_MS)]);
    },
  };
}
