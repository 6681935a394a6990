import { randomUUID } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { type App, startApp } from '../../api/app.ts';
import type { Settings } from '../../api/contract/settings.ts';
import type { EngineFacts } from '../../db/jobs/engines.ts';
import type { Log } from '../../db/ops/log.ts';
import type { Embedded } from '../../db/postgres/embedded.ts';
import type { Db } from '../../db/postgres/orm.ts';
import type { Vault } from '../../db/secrets/vault.ts';
import type { Spool } from '../../db/spool/spool.ts';
import type { Pool } from '../../engine/runtime/pool.ts';
import type { Engine } from '../../engine/tasks/engine.ts';
import { openHoldings } from '../../engine/tasks/holdings.ts';
import { tasksOf } from '../../engine/tasks/jobs.ts';
import { listen } from '../../engine/tasks/queue.ts';
import { runEngine } from '../../engine/tasks/run.ts';
import { openScratch } from '../../engine/tasks/scratch.ts';
import { openTrouble } from '../../engine/tasks/trouble.ts';

export interface Fleet {
  db: Db;
  vault: Vault;
  spool: Spool;
  settings: Settings;
  log: Log;
}

/** The processes of a fleet. */
export interface Processes {
  apps: App[];
  /** The connection pools of the engines. */
  engines: Db[];
  stop(): Promise<void>;
}

export const APIS = 50;
export const ENGINES = 200;
const SETTLE_MS = 70_000; // after the start of the fleet: each process of the queue looks for dead workers in its first minute
const WATCHED_MS = 60_000; // four heartbeats
const INTERVALS = 2; // of that length
const TICKS = 100; // per second, of /proc/PID/stat

/**
 * Starts every process of a fleet in this one; the statements and their rates are those of a fleet. `connect` opens the connections of one
 * process; by default all processes share a pool. Engines with a concurrency of 0 leave queued work to others.
 */
export async function startFleet(
  fleet: Fleet,
  url: string,
  { connect = async (_as: 'api' | 'engine') => fleet.db, concurrency = 3 } = {},
): Promise<Processes> {
  const apps: App[] = [];
  const engines: (Awaited<ReturnType<typeof startEngine>> & { db: Db })[] = [];
  for (let i = 0; i < APIS; i++) apps.push(await startApp({ ...fleet, db: await connect('api') }));
  for (let i = 0; i < ENGINES; i++) {
    const db = await connect('engine');
    engines.push({ db, ...(await startEngine({ ...fleet, db }, url, i, concurrency)) });
  }
  return {
    apps,
    engines: engines.map(({ db }) => db),
    async stop() {
      await Promise.all(engines.map((engine) => engine.stop()));
      await Promise.all(apps.map((app) => app.stop(1)));
    },
  };
}

/** Shares of one core that the database takes in consecutive minutes while a fleet runs and there is no work. Linux only. */
export async function idleCpu(fleet: Fleet, { url, process: server }: Embedded): Promise<number[]> {
  const processes = await startFleet(fleet, url);
  try {
    await sleep(SETTLE_MS);
    const shares: number[] = [];
    for (let i = 0; i < INTERVALS; i++) {
      const before = cpuSeconds(server.pid!);
      await sleep(WATCHED_MS);
      shares.push((cpuSeconds(server.pid!) - before) / (WATCHED_MS / 1000));
    }
    return shares;
  } finally {
    await processes.stop();
  }
}

/** An engine without models: they are not used while there is no work. */
async function startEngine(fleet: Fleet, connectionString: string, i: number, concurrency: number): Promise<{ stop(): Promise<void> }> {
  const { db, log, settings } = fleet;
  const id = randomUUID();
  const engine: Engine = {
    ...{ ...fleet, id, limits: settings.limits, pool: { threads: 2 } as Pool },
    holdings: openHoldings(db, log),
    // as on a host of its own, without the folders of other engines
    scratch: await openScratch(randomUUID(), id, settings.LONGHAND_HOME),
    trouble: openTrouble(async () => {}, log),
    options: { accurate: false, retentionDays: null, keepDays: 0 },
    counts: { finished: 0, failedDiarizations: 0, uncoveredSeconds: 0, recognised: {} },
  };
  const facts: EngineFacts = {
    ...{ id, role: 'engine', host: `host-${i}`, pid: i, version: '1', device: 'cpu', model: 'none', concurrency, workerIds: [] },
  };
  const running = await runEngine(engine, facts);
  const queue = listen(
    { connectionString, tasks: tasksOf(running), full: running.full, fleet: running.fleet, places: 1, log },
    async () => {},
  );
  return {
    async stop() {
      await queue.stop();
      await running.stop(0);
      engine.holdings.close();
      await engine.scratch.close();
    },
  };
}

/** CPU time of a PostgreSQL server, including running and exited child processes. */
function cpuSeconds(server: number): number {
  let ticks = 0;
  for (const pid of readdirSync('/proc').filter((name) => /^\d+$/.test(name))) {
    try {
      const fields = readFileSync(`/proc/${pid}/stat`, 'utf8')
        .replace(/^.*\) /, '')
        .split(' '); // fields from the state on
      const [parent, user, system, endedUser, endedSystem] = [1, 11, 12, 13, 14].map((field) => Number(fields[field]));
      if (Number(pid) === server) ticks += user! + system! + endedUser! + endedSystem!;
      else if (parent === server) ticks += user! + system!;
    } catch {
      // it has exited
    }
  }
  return ticks / TICKS;
}
