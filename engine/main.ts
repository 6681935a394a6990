import { randomUUID } from 'node:crypto';
import { EventEmitter } from 'node:events';
import { readFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { Logger, type Runner, run, type TaskList, type WorkerEvents } from 'graphile-worker';
import { readSettings, type Settings } from '../api/contract/settings.ts';
import { installationId, livingEngines, registerEngine } from '../db/jobs/engines.ts';
import { type Log, openLog } from '../db/ops/log.ts';
import { pendingMigrations } from '../db/postgres/migrate.ts';
import { type Db, openDb } from '../db/postgres/orm.ts';
import { requirePolicies } from '../db/postgres/role.ts';
import { loadMasterKeys } from '../db/secrets/master-key.ts';
import { openVault } from '../db/secrets/vault.ts';
import { openOwnSpool } from '../db/spool/marker.ts';
import { readDescriptor } from '../models/descriptor.ts';
import { fittingModel } from '../models/fit.ts';
import { SHIPPED_FOLDER } from '../models/manifest.ts';
import { openWriter } from './reports/writer.ts';
import { chooseDevice } from './runtime/gpu.ts';
import { openPool, type Pool } from './runtime/pool.ts';
import { CRONTAB, tasksOf } from './tasks/clock.ts';
import type { Engine } from './tasks/engine.ts';
import { openHoldings } from './tasks/holdings.ts';
import { runEngine } from './tasks/run.ts';
import { openScratch } from './tasks/scratch.ts';
import { openTrouble } from './tasks/trouble.ts';

const GRACE_MS = 10_000; // for work that is nearly done; the rest is requeued and resumes elsewhere from its last checkpoint
const GROWTH_BYTES = 2 * 2 ** 30; // memory growth beyond the start and the threads' peak at which the process exits cleanly to be restarted
const WAKERS = 3; // queue jobs run concurrently; they wake this engine, and sweep
const POLL_MS = 5000; // for jobs scheduled for later; immediate ones are notified
const PAUSE_MS = 5000; // before listening to the queue again after a failure

/** Runs an engine until SIGTERM, SIGINT or SIGHUP (terminal closed); a second signal ends it at once. */
async function main(): Promise<void> {
  const settings = readSettings(process.env);
  const log = openLog(settings, 'engine');
  if (!settings.DATABASE_URL) throw new Error('Cannot start the engine: DATABASE_URL is not set. `longhand up` brings its own database');
  const db = await openDb({ url: settings.DATABASE_URL, pool: 8, name: 'longhand-engine' });
  try {
    await requirePolicies(db);
    const pending = await pendingMigrations(db);
    if (pending.length)
      throw new Error(`Cannot start the engine: the database lacks the migrations ${pending.join(', ')}. Run \`longhand migrate\``);
    const { folder, name: model } = await fittingModel(settings.LONGHAND_MODEL, settings.LONGHAND_HOME);
    const pool = await openPool({
      models: { whisper: folder, diarization: join(SHIPPED_FOLDER, 'diarization') },
      threads: settings.LONGHAND_THREADS,
      device: await chooseDevice(settings.LONGHAND_DEVICE, readDescriptor(folder).devices),
    });
    try {
      await work({ ...settings, LONGHAND_MODEL: model }, db, pool, log); // `auto` resolved to a name
    } finally {
      await pool.close();
    }
  } finally {
    await db.close();
  }
}

/** Composes the engine, prints `working` on standard output, and works until it is stopped. */
async function work(settings: Settings, db: Db, pool: Pool, log: Log): Promise<void> {
  const id = randomUUID();
  const facts = { id, ...describe(settings, pool), workerIds: [] as string[] };
  await registerEngine(db, facts); // before its folders exist: other engines remove those of unknown engines
  const holdings = openHoldings(db, log);
  const scratch = await openScratch(await installationId(db), id, settings.LONGHAND_HOME);
  process.env.TMPDIR = scratch.folder; // temporary files of any kind are then removed with it after a crash
  try {
    const spool = await openOwnSpool(db, settings);
    const engine: Engine = {
      ...{ id, db, pool, log, holdings, scratch, spool, limits: settings.limits },
      trouble: openTrouble(spool.reachable, log),
      vault: await openVault(db, await loadMasterKeys(settings)),
      writer: openWriter({
        baseUrl: settings.LLM_BASE_URL,
        model: settings.LLM_MODEL,
        apiKey: settings.LLM_API_KEY,
        contextTokens: settings.LLM_CONTEXT,
      }),
      options: {
        accurate: settings.LONGHAND_DECODING === 'accurate',
        privateWebhooks: settings.LONGHAND_WEBHOOK_PRIVATE === 'allow',
        retentionDays: settings.LONGHAND_RETENTION_DAYS ?? null,
      },
      counts: { finished: 0, failedDiarizations: 0, uncoveredSeconds: 0 },
    };
    await scratch.clean(await livingEngines(db));
    const running = await runEngine(engine, facts);
    const queue = listen(settings.DATABASE_URL!, tasksOf(running, db), log, async (workerIds) => {
      facts.workerIds = workerIds;
      await registerEngine(db, facts);
    });
    process.stdout.write(`working on ${pool.device} with ${settings.LONGHAND_MODEL}, ${facts.concurrency} files at once\n`);
    log.info({ engine: id, device: pool.device, threads: pool.threads, concurrency: facts.concurrency }, 'working');
    const reason = await Promise.race([stopSignal(), outgrown(pool)]);
    log.info({ reason, held: holdings.size }, 'stopping: no new work is claimed, work that does not finish soon is requeued');
    process.once('SIGTERM', () => process.exit(1)).once('SIGINT', () => process.exit(1));
    await queue.stop();
    await running.stop(GRACE_MS);
  } finally {
    holdings.close();
    await scratch.close();
  }
}

function describe(settings: Settings, pool: Pool) {
  const { values } = parseArgs({ options: { concurrency: { type: 'string' } }, strict: false });
  const asked = Number(values.concurrency ?? 0);
  const { version } = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8')) as { version: string };
  return {
    host: hostname(),
    pid: process.pid,
    version,
    device: pool.device,
    model: settings.LONGHAND_MODEL,
    concurrency: asked >= 1 ? Math.floor(asked) : Math.max(2, pool.threads) + 1, // one slot is reserved for short recordings
  };
}

/** Runs queue jobs, which wake the engine, as they arrive. Reconnects for ever: without the queue the engine still polls. */
function listen(connectionString: string, taskList: TaskList, log: Log, onWorkers: (ids: string[]) => Promise<void>) {
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
          ...{ connectionString, taskList, logger, events, crontab: CRONTAB },
          ...{ concurrency: WAKERS, pollInterval: POLL_MS, noHandleSignals: true, noPreparedStatements: true }, // PgBouncer does not support prepared statements
        });
        await onWorkers(ids);
        await runner.promise;
      } catch (error) {
        log.warn({ error }, 'cannot listen to the queue; trying again');
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

function stopSignal(): Promise<string> {
  return new Promise((resolve) => {
    for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) process.once(signal, () => resolve(signal));
  });
}

/** Resolves when the process has grown too large. Memory of ONNX sessions never shrinks, so the whole process is restarted. */
function outgrown({ memoryBytes }: Pool): Promise<string> {
  const limit = process.memoryUsage.rss() + memoryBytes + GROWTH_BYTES;
  return new Promise((resolve) => {
    setInterval(() => {
      if (process.memoryUsage.rss() > limit) resolve('memory');
    }, 60_000).unref();
  });
}

await main().then(
  () => process.exit(0),
  (error: unknown) => {
    process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
    process.exit(1);
  },
);
