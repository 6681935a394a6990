import { runMigrations } from 'graphile-worker';
import type { Db } from './orm.ts';

const LOCK = 7_231_950; // pg advisory lock: one migration at a time over all hosts

/** Applies pending migrations, the queue's own included, under a lock. Returns the names of those applied. */
export function migrate(db: Db): Promise<string[]> {
  return db.system(async (tx) => {
    await tx.rows('select pg_advisory_xact_lock(?)', [LOCK]);
    const applied = await db.orm.getMigrator().up();
    await runMigrations({ connectionString: db.url });
    return applied.map((migration) => migration.name);
  });
}

/** Names of migrations that this program knows and the database lacks. `api` and `engine` refuse to start while there are any. */
export async function pendingMigrations(db: Db): Promise<string[]> {
  return (await db.orm.getMigrator().getPendingMigrations()).map((migration) => migration.name);
}
