import path from 'node:path';
import type { Settings } from '../../api/contract/settings.ts';
import { startEmbedded } from '../../db/postgres/embedded.ts';
import { type Db, openDb } from '../../db/postgres/orm.ts';
import { pendingMigrations } from '../../db/postgres/pending.ts';
import { loadMasterKeys } from '../../db/secrets/master-key.ts';
import { openVault, type Vault } from '../../db/secrets/vault.ts';
import { claimHome, runningDatabase } from './home.ts';

/** URL of a running database: DATABASE_URL, or the embedded one of a running `up`. Null: there is none. */
export function databaseUrl(settings: Settings): string | null {
  return settings.DATABASE_URL ?? runningDatabase(settings.LONGHAND_HOME);
}

/** Runs `work` on the database. If the embedded one is not running it is started, migrated, and stopped again. */
export async function withDatabase<T>(settings: Settings, work: (db: Db) => Promise<T>): Promise<T> {
  const url = databaseUrl(settings);
  if (url) return withOpen(url, work);
  const home = await claimHome(settings.LONGHAND_HOME);
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.once(signal, () => process.exit(1)); // the server exits with this program
  try {
    const server = await startEmbedded(path.join(settings.LONGHAND_HOME, 'postgres'));
    try {
      const { migrate } = await import('../../db/postgres/migrate.ts'); // with the migrations: 0.2 s
      return await withOpen(server.url, async (db) => {
        await migrate(db);
        return work(db);
      });
    } finally {
      await server.stop();
    }
  } finally {
    home.release();
  }
}

/** As `withDatabase`, with a current schema and an open vault. */
export function withVault<T>(settings: Settings, work: (db: Db, vault: Vault) => Promise<T>): Promise<T> {
  return withDatabase(settings, async (db) => {
    await requireSchema(db);
    return work(db, await openVault(db, await loadMasterKeys(settings)));
  });
}

/** Throws if migrations are pending. */
async function requireSchema(db: Db): Promise<void> {
  const pending = await pendingMigrations(db);
  if (pending.length)
    throw new Error(`The database is older than this program: ${pending.join(', ')} pending. Run scripts/longhand migrate.`);
}

async function withOpen<T>(url: string, work: (db: Db) => Promise<T>): Promise<T> {
  const db = await openDb({ url, pool: 2, name: 'longhand-cli', patience: 'operator' }).catch((error: Error) => {
    throw new Error(`Cannot open the database: ${error.message}. Start it, or correct DATABASE_URL.`, { cause: error });
  });
  try {
    return await work(db);
  } finally {
    await db.close();
  }
}
