import { openLog } from '../db/ops/log.ts';
import { openDb } from '../db/postgres/orm.ts';
import { pendingMigrations } from '../db/postgres/pending.ts';
import { requirePolicies } from '../db/postgres/policies.ts';
import { loadMasterKeys } from '../db/secrets/master-key.ts';
import { openVault } from '../db/secrets/vault.ts';
import { openReceivingSpool } from '../db/spool/marker.ts';
import { startApp } from './app.ts';
import { readSettings } from './contract/settings.ts';

const GRACE_SECONDS = 30; // for uploads in progress after SIGTERM; the lease of a longer one expires

/** Runs the API until SIGTERM, SIGINT or SIGHUP (a terminal is closed); a second signal ends it at once. */
async function main(): Promise<void> {
  const settings = readSettings(process.env);
  const log = openLog(settings, 'api');
  if (!settings.DATABASE_URL) throw new Error('Cannot start the API: DATABASE_URL is not set. `longhand up` brings its own database');
  const db = await openDb({ url: settings.DATABASE_URL, pool: 20, name: 'longhand-api', patience: 'request' });
  try {
    await requirePolicies(db);
    const pending = await pendingMigrations(db);
    if (pending.length)
      throw new Error(`Cannot start the API: the database lacks the migrations ${pending.join(', ')}. Run \`longhand migrate\``);
    const vault = await openVault(db, await loadMasterKeys(settings));
    const spool = await openReceivingSpool(db, settings, log);
    const app = await startApp({ db, vault, spool, settings, log });
    const stopping = stopSignal(); // before it says that it listens: whoever waits for that may stop it at once
    process.stdout.write(`listening on ${app.url}\n`);
    const signal = await stopping;
    log.info({ signal, graceSeconds: GRACE_SECONDS }, 'stopping: no new requests are accepted; uploads in progress can finish');
    process.once(signal, () => process.exit(1));
    await app.stop(GRACE_SECONDS);
  } finally {
    await db.close();
  }
}

function stopSignal(): Promise<NodeJS.Signals> {
  return new Promise((resolve) => {
    for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) process.once(signal, () => resolve(signal));
  });
}

await main().then(
  () => process.exit(0),
  (error: unknown) => {
    process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
    process.exit(1);
  },
);
