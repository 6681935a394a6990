import { EventEmitter } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { Logger, type Runner, run, type TaskList, type WorkerEvents } from 'graphile-worker';
import type { Log } from '../../db/ops/log.ts';

const WAKERS = 2; // jobs of the queue taken at once; they wake, and sweep
const POLL_MS = 5000; // for jobs of later; one of now is heard of at once
const PAUSE_MS = 5000; // before the queue is listened to again after it failed

export interface Listening {
  connectionString: string;
  tasks: TaskList;
  /** Names of jobs that there is no free place for now: they are left to others. */
  full: () => string[];
  /** Jobs that take a while and may run beside those that only wake. */
  places?: number;
  /** What is done on a clock. */
  crontab?: string;
  log: Log;
}

/** Lets the jobs of the queue wake the process as they come. Tries again for ever: without the queue it still polls. */
export function listen(
  { connectionString, tasks: taskList, full, places = 0, crontab, log }: Listening,
  onWorkers: (ids: string[]) => Promise<void>,
) {
  let runner: Runner | null = null;
  let stopping = false;
  const logger = new Logger(() => (level, message) => {
    if (level === 'error' || level === 'warning') log.warn({ queue: message.slice(0, 300) }, 'the queue says');
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
            pollInterval: POLL_MS,
            noHandleSignals: true,
            noPreparedStatements: true,
          }, // PgBouncer knows none
        });
        await onWorkers(ids);
        await runner.promise;
      } catch (error) {
        log.warn({ error }, 'the queue cannot be listened to; trying again');
      }
      if (!stopping) await sleep(PAUSE_MS);
    }
  };
  const done = loop();
  return {
    async stop() {
      stopping = true;
      await runner?.stop().catch(() => {}); // it had already stopped
      await Promise.race([done, sleep(PAUSE_MS)]);
    },
  };
}
