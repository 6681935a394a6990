import { randomUUID } from 'node:crypto';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { readSettings, type Settings } from '../api/contract/settings.ts';
import { installationId, registerEngine } from '../db/jobs/engines.ts';
import { type Log, openLog } from '../db/ops/log.ts';
import { type Db, openDb } from '../db/postgres/orm.ts';
import { pendingMigrations } from '../db/postgres/pending.ts';
import { requirePolicies } from '../db/postgres/policies.ts';
import { loadMasterKeys } from '../db/secrets/master-key.ts';
import { openVault } from '../db/secrets/vault.ts';
import { openOwnSpool } from '../db/spool/marker.ts';
import { readDescriptor } from '../models/descriptor.ts';
import { SHIPPED_FOLDER } from '../models/manifest.ts';
import { configuredModels } from './configured.ts';
import { chooseDevice } from './runtime/gpu.ts';
import { openPool, type Pool } from './runtime/pool.ts';
import type { Engine } from './tasks/engine.ts';
import { openHoldings } from './tasks/holdings.ts';
import { tasksOf } from './tasks/jobs.ts';
import { listen } from './tasks/queue.ts';
import { runEngine } from './tasks/run.ts';
import { openScratch } from './tasks/scratch.ts';
import { stopSignal } from './tasks/stop.ts';
import { openTrouble } from './tasks/trouble.ts';
import { packageVersion } from './tasks/version.ts';

const GRACE_MS = 10_000; // for work that is nearly done; the rest is requeued and resumes elsewhere from its last checkpoint
const GROWTH_BYTES = 2 * 2 ** 30; // memory growth beyond the start and the threads' peak at which the process exits cleanly to be restarted

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
    const { resident, others, routes, least } = await configuredModels(settings);
    const { folder, name: model } = resident;
    const pool = await openPool({
      models: { whisper: folder, diarization: join(SHIPPED_FOLDER, 'diarization'), home: settings.LONGHAND_HOME },
      others: Object.fromEntries(others.map((other) => [other.name, other.folder])),
      routes: routes.size ? { resident: model, byLanguage: routes, least } : undefined,
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
      options: {
        accurate: settings.LONGHAND_DECODING === 'accurate',
        retentionDays: settings.LONGHAND_RETENTION_DAYS ?? null,
        keepDays: settings.LONGHAND_KEEP_RECORDINGS_DAYS,
      },
      counts: { finished: 0, failedDiarizations: 0, uncoveredSeconds: 0, recognised: {} },
    };
    const running = await runEngine(engine, facts);
    const queue = listen(
      {
        ...{
          connectionString: settings.DATABASE_URL!,
          tasks: tasksOf(running),
          full: running.full,
          fleet: running.fleet,
          places: 1,
          log,
        },
      },
      async (workerIds) => {
        facts.workerIds = workerIds;
        await registerEngine(db, facts);
      },
    );
    const stopping = stopSignal(); // before it says that it works: whoever waits for that may stop it at once
    process.stdout.write(`working on ${pool.device} with ${settings.LONGHAND_MODEL}, ${facts.concurrency} files at once\n`);
    const models = Object.fromEntries(pool.routes?.byLanguage ?? []);
    log.info({ engine: id, device: pool.device, threads: pool.threads, concurrency: facts.concurrency, models }, 'working');
    const reason = await Promise.race([stopping, outgrown(pool)]);
    log.info({ reason, jobsInProgress: holdings.size }, 'stopping: no new work is claimed; jobs that do not finish soon are requeued');
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
  return {
    role: 'engine' as const,
    host: hostname(),
    pid: process.pid,
    version: packageVersion(),
    device: pool.device,
    model: settings.LONGHAND_MODEL,
    concurrency: asked >= 1 ? Math.floor(asked) : Math.max(2, pool.threads) + 1, // one slot is reserved for short recordings
  };
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
