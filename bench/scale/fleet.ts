import { randomUUID } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { startApp } from '../../api/app.ts';
import type { Settings } from '../../api/contract/settings.ts';
import type { EngineFacts } from '../../db/jobs/engines.ts';
import type { Log } from '../../db/ops/log.ts';
import type { Embedded } from '../../db/postgres/embedded.ts';
import type { Db } from '../../db/postgres/orm.ts';
import type { Vault } from '../../db/secrets/vault.ts';
import type { Spool } from '../../db/spool/spool.ts';
import type { Pool } from '../../engine/runtime/pool.ts';
import { tasksOf } from '../../engine/tasks/jobs.ts';
import type { Engine } from '../../engine/tasks/engine.ts';
import { openHoldings } from '../../engine/tasks/holdings.ts';
import { listen } from '../../engine/tasks/queue.ts';
import { type Running, runEngine } from '../../engine/tasks/run.ts';
import { openScratch } from '../../engine/tasks/scratch.ts';
import { openTrouble } from '../../engine/tasks/trouble.ts';

interface Fleet {
  db: Db;
  vault: Vault;
  spool: Spool;
  settings: Settings;
  log: Log;
}

const APIS = 50;
const ENGINES = 200;
const SETTLE_MS = 20_000; // after the start of the fleet
const WATCHED_MS = 60_000; // four heartbeats, one run of cron
const TICKS = 100; // per second, of /proc/PID/stat

/**
 * Share of one core that the database takes while every process of a fleet runs and there is no work. The processes run in this one and
 * share a pool of connections; the statements and their rates are those of a fleet. Linux only.
 */
export async function idleCpu(fleet: Fleet, { url, process: server }: Embedded, hook?: (phase: string) => Promise<void>): Promise<number> {
  const apps = await Promise.all(Array.from({ length: APIS }, () => startApp(fleet)));
  const engines: Awaited<ReturnType<typeof startEngine>>[] = [];
  for (let i = 0; i < ENGINES; i++) engines.push(await startEngine(fleet, url, i));
  try {
    await sleep(SETTLE_MS);
    await hook?.('begin');
    const before = cpuSeconds(server.pid!);
    await sleep(WATCHED_MS);
    await hook?.('end');
    return (cpuSeconds(server.pid!) - before) / (WATCHED_MS / 1000);
  } finally {
    await Promise.all(engines.map((engine) => engine.stop()));
    await Promise.all(apps.map((app) => app.stop(1)));
  }
}

/** An engine without models: they are not used while there is no work. */
async function startEngine(fleet: Fleet, connectionString: string, i: number): Promise<{ stop(): Promise<void> }> {
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
    ...{ id, role: 'engine', host: `host-${i}`, pid: i, version: '1', device: 'cpu', model: 'none', concurrency: 3, workerIds: [] },
  };
  const running: Running = await runEngine(engine, facts);
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
