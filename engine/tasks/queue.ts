import { EventEmitter } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { Logger, type Runner, run, type TaskList, type Worker, type WorkerEvents } from 'graphile-worker';
import type { Log } from '../../db/ops/log.ts';

const WAKERS = 2; // concurrent jobs: they wake the process, or sweep
const POLL_MS = [5_000, 300_000] as const; // for scheduled jobs; immediate ones arrive by notification
const POLLERS = 4; // processes that poll at the shorter interval; more share these polls, up to the longer one
const REACTING = 8; // processes that query the queue after a notification: one of them gets the job
const CHECK_MS = 15_000; // between checks of the fleet's size
const PAUSE_MS = 5000; // before reconnecting to the queue after a failure

/** Number of processes that run the same jobs, this one included. */
export interface FleetSize {
  living: number;
  /** Those with a free slot. */
  idle: number;
}

export interface Listening {
  connectionString: string;
  tasks: TaskList;
  /** Names of jobs without a free slot: they are left to other processes. */
  full: () => string[];
  /** Default: this process alone. */
  fleet?: () => FleetSize;
  /** Number of concurrent long jobs, in addition to those that only wake the process. */
  places?: number;
  log: Log;
}

/** Interval between polls of one process, so that those of a whole fleet cost the database little: a due job is run by whoever polls first. */
export function pollMs(living: number): number {
  const [least, most] = POLL_MS;
  return Math.min(most, Math.max(least, (least * living) / POLLERS));
}

/**
 * Whether a process queries the queue after a notification, which every process gets. `similar`: number of processes that are as likely to
 * take the job, `chance` from 0 to 1. If none reacts, the next poll of the fleet or the heartbeat of an engine finds the work.
 */
export function reacts(similar: number, chance: number): boolean {
  return chance * similar < REACTING;
}

/** Runs the queue's jobs as they arrive. Reconnects forever; while the queue is unavailable the process polls. */
export function listen(
  { connectionString, tasks: taskList, full, fleet = () => ({ living: 1, idle: 1 }), places = 0, log }: Listening,
  onWorkers: (ids: string[]) => Promise<void>,
) {
  let runner: Runner | null = null;
  let stopping = false;
  const logger = new Logger(() => (level, message) => {
    if (level === 'error' || level === 'warning') log.warn({ queue: message.slice(0, 300) }, 'message of the queue');
  });
  const connect = async (pollInterval: number): Promise<Runner> => {
    const events = new EventEmitter() as WorkerEvents;
    const ids: string[] = [];
    const working = new Set<Worker>();
    events.on('worker:create', ({ worker }) => {
      ids.push(worker.workerId);
      working.add(worker);
    });
    events.on('worker:release', ({ worker }) => working.delete(worker));
    events.on('pool:listen:success', ({ client }) => {
      // the connection is there, LISTEN is the next statement: jobs added until then were not announced to this process
      const look = () => {
        for (const worker of working) worker.nudge();
      };
      setImmediate(() => client.query('select 1').then(look, () => {})); // lost: it connects again
    });
    events.on('pool:listen:notification', ({ message }) => {
      const { living, idle } = fleet();
      if (message.channel === 'jobs:insert' && !reacts(full().length ? living : idle, Math.random())) message.payload = '{"count":0}'; // wakes no worker
    });
    const started = await run({
      ...{ connectionString, taskList, logger, events, pollInterval },
      ...{ concurrency: WAKERS + places, forbiddenFlags: full, noHandleSignals: true },
      noPreparedStatements: true, // PgBouncer does not support them
    });
    await onWorkers(ids);
    return started;
  };
  const loop = async () => {
    while (!stopping) {
      let resized = false;
      let check: NodeJS.Timeout | undefined;
      try {
        const interval = pollMs(fleet().living);
        runner = await connect(interval);
        const end = runner.promise;
        check = setInterval(() => {
          const wanted = pollMs(fleet().living);
          if (resized || (wanted < 2 * interval && interval < 2 * wanted)) return;
          resized = true; // polls at another interval from now on
          runner?.stop().catch(() => {}); // it may have stopped already
        }, CHECK_MS);
        await end;
      } catch (error) {
        log.warn({ error }, 'cannot connect to the queue; trying again');
      } finally {
        clearInterval(check);
      }
      if (!stopping && !resized) await sleep(PAUSE_MS);
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
