import { setTimeout as sleep } from 'node:timers/promises';
import { Migrator } from '@mikro-orm/migrations';
import { MikroORM } from '@mikro-orm/postgresql';
import { runMigrations } from 'graphile-worker';
import { ENTITIES } from './entities/index.ts';
import { MIGRATIONS } from './migrations/index.ts';
import type { Db } from './orm.ts';
import { pendingMigrations } from './pending.ts';
import { connectionTo } from './url.ts';

const LOCK = 7_231_950; // advisory lock: one migration at a time over all hosts
// Migrations act on all workspaces and may take long; the transaction with the advisory lock is idle meanwhile. They wait only briefly for
// table locks, because all other queries queue behind them.
const SETTINGS = '-c longhand.workspace=* -c idle_in_transaction_session_timeout=0 -c statement_timeout=0 -c lock_timeout=2s';
const LOCKED = new Set(['55P03', '40P01']); // lock_timeout; a deadlock with regular traffic
const BOUNCED =
  'Cannot migrate through PgBouncer: it drops the settings of a connection, without which rows are invisible. Set DATABASE_URL to the address of PostgreSQL itself for this command';
const PATIENCE_MS = 600_000; // while tables are locked repeatedly
const PAUSE_MS = 2_000;

/**
 * Applies pending migrations, including the queue's own, one at a time, under an advisory lock and as the user in the database URL. Retries
 * while tables are locked. Returns the names of those applied.
 */
export function migrate(db: Db): Promise<string[]> {
  return asOwner(db.url, (orm) =>
    orm.em.transactional(async (em) => {
      const owner = (sql: string) => em.getConnection().execute(sql, [], 'all', em.getTransactionContext());
      const [set] = await owner(`select current_setting('longhand.workspace', true) as scope`);
      if (set?.scope !== '*') throw new Error(BOUNCED);
      await owner('set local lock_timeout = 0');
      await owner(`select pg_advisory_xact_lock(${LOCK})`); // another migration may take long, too
      const before = new Set(await pendingMigrations(db));
      await again(() => orm.getMigrator().up());
      await runMigrations({ connectionString: connectionTo(db.url, 'longhand-migrate', SETTINGS).connectionString });
      db.renew();
      return [...before];
    }),
  );
}

/** Retries what failed on a locked table, with pauses for regular traffic. */
async function again(work: () => Promise<unknown>): Promise<void> {
  for (const end = performance.now() + PATIENCE_MS; ; await sleep(PAUSE_MS)) {
    try {
      await work();
      return;
    } catch (error) {
      const { code, cause } = error as { code?: string; cause?: { code?: string } };
      if (!LOCKED.has(code ?? cause?.code ?? '') || performance.now() > end) throw error;
    }
  }
}

async function asOwner<T>(url: string, work: (orm: MikroORM) => Promise<T>): Promise<T> {
  const orm = await MikroORM.init({
    clientUrl: url,
    entities: ENTITIES,
    discovery: { disableDynamicFileAccess: true },
    driverOptions: { connection: connectionTo(url, 'longhand-migrate', SETTINGS) },
    pool: { min: 0, max: 2 },
    migrations: {
      migrationsList: MIGRATIONS,
      tableName: 'longhand_migrations',
      snapshot: false,
      disableForeignKeys: false,
      silent: true,
      allOrNothing: false,
    },
    extensions: [Migrator],
    allowGlobalContext: true,
    debug: false,
  });
  try {
    return await work(orm);
  } finally {
    await orm.close(true);
  }
}
