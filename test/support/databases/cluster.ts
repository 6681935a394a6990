import { execFileSync } from 'node:child_process';
import { chmodSync, existsSync, mkdtempSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { startEmbedded } from '../../../db/postgres/embedded.ts';
import { migrate } from '../../../db/postgres/migrate.ts';
import { openDb } from '../../../db/postgres/orm.ts';
import { fingerprint } from './database.ts';
import { sharedFolder } from './postgres.ts';

/**
 * Copies a migrated, empty PostgreSQL into a folder, in which `startEmbedded` then starts it: for tests that need a server of their own. It is
 * created once for all tests of this checkout, because that takes 3 s of CPU time, a copy 0.4 s.
 */
export async function migratedCluster(folder: string): Promise<void> {
  const built = join(sharedFolder(), `cluster-${fingerprint()}`);
  if (!existsSync(built)) await build(built);
  execFileSync('cp', ['-a', `${built}/.`, folder]); // its files belong to another account
}

/** Appears atomically. If several processes build it concurrently, the first result is kept. */
async function build(built: string): Promise<void> {
  const partial = mkdtempSync(`${built}.`);
  chmodSync(partial, 0o755);
  try {
    const server = await startEmbedded(partial, { durable: false });
    try {
      const db = await openDb({ url: server.url, name: 'longhand-test' });
      await migrate(db).finally(() => db.close());
    } finally {
      await server.stop();
    }
    renameSync(partial, built);
  } catch (error) {
    if (!existsSync(built)) throw error;
  } finally {
    rmSync(partial, { recursive: true, force: true });
  }
}
