import { createHash, randomBytes } from 'node:crypto';
import { existsSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { installationId } from '../../../db/jobs/engines.ts';
import { migrate } from '../../../db/postgres/migrate.ts';
import { type Db, openDb } from '../../../db/postgres/orm.ts';
import { MEMORY, testServer } from './postgres.ts';

export interface TestDatabase {
  /** URL for connecting as the owner, who is not a superuser. */
  url: string;
  db: Db;
}

const EXIT_MS = 30_000; // a backend whose client has disconnected exits within milliseconds, later on a busy machine
const INSUFFICIENT_PRIVILEGE = '42501';
const LOCK = 5_120_417; // advisory lock: only one process creates the template
const MIGRATIONS = new URL('../../../db/postgres/migrations/', import.meta.url);
const EMBEDDED = new URL('../../../db/postgres/embedded.ts', import.meta.url);

/**
 * Creates a migrated, empty database for one test file (or one test): `const { db, url } = await testDatabase(t)`.
 * It is closed and dropped at teardown.
 */
export async function testDatabase(t: { teardown(after: () => unknown): void }): Promise<TestDatabase> {
  const server = await testServer();
  const name = `test_${process.pid}_${randomBytes(5).toString('hex')}`;
  const url = databaseUrl(server, name);
  const maintenance = await openDb({ url: server, pool: 1, name: 'longhand-test' });
  try {
    await execute(maintenance, `create database ${name} template ${await template(maintenance, server)}`);
  } catch (error) {
    await maintenance.close();
    throw error;
  }
  const db = await openDb({ url, pool: 10, name: 'longhand-test' });
  t.teardown(async () => {
    await removeScratch(db).finally(() => db.close());
    await drop(maintenance, name).finally(() => maintenance.close());
  });
  return { url, db };
}

/** Engines that a test killed leave recordings in memory, which only another engine of this database would remove. */
async function removeScratch(db: Db): Promise<void> {
  if (!existsSync(MEMORY)) return;
  const own = await installationId(db).catch(() => null); // some tests drop every table
  if (!own) return;
  const folders = readdirSync(MEMORY).filter((name) => name.startsWith(`longhand-${own.slice(0, 12)}-`));
  for (const folder of folders) rmSync(join(MEMORY, folder), { recursive: true, force: true });
}

/** Drops a database even with open connections. The owner may not terminate backends of other roles, so it waits for those that are exiting. */
async function drop(maintenance: Db, name: string): Promise<void> {
  for (const end = Date.now() + EXIT_MS; ; await sleep(100)) {
    try {
      return await execute(maintenance, `drop database if exists ${name} with (force)`);
    } catch (error) {
      if ((error as { code?: string }).code !== INSUFFICIENT_PRIVILEGE || Date.now() > end) throw error;
    }
  }
}

/** Name of the migrated template database, which is created if the migrations have changed. */
async function template(maintenance: Db, server: string): Promise<string> {
  const name = `template_${fingerprint()}`;
  const exists = () => maintenance.direct(`select 1 from pg_database where datname = '${name}'`);
  if ((await exists()).length) return name;
  const gate = await openDb({ url: server, pool: 1, name: 'longhand-test' });
  try {
    await gate.acrossTenants(async (tx) => {
      await tx.rows('set local idle_in_transaction_session_timeout = 0'); // the default of 60 s would end the transaction, and release the lock
      await tx.rows('select pg_advisory_xact_lock(?)', [LOCK]);
      if ((await exists()).length) return;
      const draft = `draft_${process.pid}_${randomBytes(5).toString('hex')}`;
      await execute(maintenance, `create database ${draft}`);
      const db = await openDb({ url: databaseUrl(server, draft), name: 'longhand-test' });
      await migrate(db).finally(() => db.close());
      await execute(maintenance, `alter database ${draft} rename to ${name}`);
    });
  } finally {
    await gate.close();
  }
  return name;
}

/** Changes with the text of any migration, and with what creates a server. */
export function fingerprint(): string {
  const hash = createHash('sha256').update(readFileSync(EMBEDDED));
  const files = readdirSync(MIGRATIONS, { recursive: true, encoding: 'utf8' }).filter((file) => file.endsWith('.ts'));
  for (const file of files.sort()) hash.update(readFileSync(new URL(file, MIGRATIONS)));
  return hash.digest('hex').slice(0, 12);
}

/** Statements that cannot run in a transaction. */
async function execute(db: Db, sql: string): Promise<void> {
  await db.direct(sql);
}

function databaseUrl(server: string, name: string): string {
  const url = new URL(server);
  url.pathname = `/${name}`;
  return url.href;
}
