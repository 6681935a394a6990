import { readdirSync } from 'node:fs';
import type { Db } from './orm.ts';

const FILE = /^(\d{3}_\w+)\.ts$/;

/**
 * Names of the migrations of this program, in order. They are read from the folder, because loading the migrations with MikroORM's migrator
 * takes 0.3 s of CPU time at each start of a program.
 */
export const MIGRATION_NAMES: readonly string[] = readdirSync(new URL('./migrations/', import.meta.url))
  .flatMap((file) => FILE.exec(file)?.[1] ?? [])
  .sort();

/** Names of migrations that this program knows and the database lacks. `api` and `engine` refuse to start if there are any. */
export async function pendingMigrations(db: Db): Promise<string[]> {
  const [table] = await db.query<{ there: boolean }>('*', `select to_regclass('longhand_migrations') is not null as there`);
  const applied = table?.there ? await db.query<{ name: string }>('*', 'select name from longhand_migrations') : [];
  const names = new Set(applied.map((row) => row.name));
  return MIGRATION_NAMES.filter((name) => !names.has(name));
}
