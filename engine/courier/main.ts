import { randomUUID } from 'node:crypto';
import { hostname } from 'node:os';
import { readSettings, type Settings } from '../../api/contract/settings.ts';
import { registerEngine } from '../../db/jobs/engines.ts';
import { type Log, openLog } from '../../db/ops/log.ts';
import { type Db, openDb } from '../../db/postgres/orm.ts';
import { pendingMigrations } from '../../db/postgres/pending.ts';
import { requirePolicies } from '../../db/postgres/policies.ts';
import { loadMasterKeys } from '../../db/secrets/master-key.ts';
import { openVault } from '../../db/secrets/vault.ts';
import { openWriter } from '../reports/writer.ts';
import { openHoldings } from '../tasks/holdings.ts';
import { listen } from '../tasks/queue.ts';
import { stopSignal } from '../tasks/stop.ts';
import { packageVersion } from '../tasks/version.ts';
import { DELIVERIES, runCourier } from './run.ts';

const GRACE_MS = 10_000; // for calls that are nearly done; the rest is requeued

/**
 * The process that makes outgoing requests: webhooks, and the language model for reports, titles and summaries; also runs the extractive
 * writer, so that all reports are written in one place. It opens no recordings; the engine, which does, needs no network but the
 * database's. Runs until SIGTERM, SIGINT or SIGHUP.
 */
async function main(): Promise<void> {
  const settings = readSettings(process.env);
  const log = openLog(settings, 'courier');
  if (!settings.DATABASE_URL) throw new Error('Cannot start the courier: DATABASE_URL is not set. `longhand up` brings its own database');
  const db = await openDb({ url: settings.DATABASE_URL, pool: 6, name: 'longhand-courier' });
  try {
    await requirePolicies(db);
    const pending = await pendingMigrations(db);
    if (pending.length)
      throw new Error(`Cannot start the courier: the database lacks the migrations ${pending.join(', ')}. Run \`longhand migrate\``);
    await work(settings, db, log);
  } finally {
    await db.close();
  }
}

async function work(settings: Settings, db: Db, log: Log): Promise<void> {
  if (!settings.LLM_BASE_URL && (settings.LLM_MODEL || settings.LLM_API_KEY))
    log.warn({}, 'LLM_MODEL and LLM_API_KEY have no effect without LLM_BASE_URL: reports are extractive');
  const holdings = openHoldings(db, log);
  try {
    const courier = {
      ...{ id: randomUUID(), db, log, holdings },
      vault: await openVault(db, await loadMasterKeys(settings)),
      writer: openWriter({
        baseUrl: settings.LLM_BASE_URL,
        model: settings.LLM_MODEL,
        apiKey: settings.LLM_API_KEY,
        contextTokens: settings.LLM_CONTEXT,
      }),
      privateWebhooks: settings.LONGHAND_WEBHOOK_PRIVATE === 'allow',
    };
    const facts = {
      ...{ id: courier.id, role: 'courier' as const, host: hostname(), pid: process.pid, version: packageVersion() },
      ...{ device: '', model: courier.writer.name, concurrency: 1, workerIds: [] as string[] },
    };
    const running = await runCourier(courier, facts);
    const queue = listen(
      { connectionString: settings.DATABASE_URL!, tasks: running.tasks, full: running.full, fleet: running.fleet, places: DELIVERIES, log },
      async (workerIds) => {
        facts.workerIds = workerIds;
        await registerEngine(db, facts);
      },
    );
    const stopping = stopSignal(); // before it says that it works: whoever waits for that may stop it at once
    process.stdout.write(`delivering, with ${courier.writer.kind === 'model' ? 'a language model' : 'the built-in writer'} for reports\n`);
    const signal = await stopping;
    log.info({ signal, jobsInProgress: holdings.size }, 'stopping: no new work is claimed; jobs that do not finish soon are requeued');
    process.once('SIGTERM', () => process.exit(1)).once('SIGINT', () => process.exit(1));
    await queue.stop();
    await running.stop(GRACE_MS);
  } finally {
    holdings.close();
  }
}

await main().then(
  () => process.exit(0),
  (error: unknown) => {
    process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
    process.exit(1);
  },
);
