import { type EntityManager, MikroORM, type Transaction } from '@mikro-orm/postgresql';
import { ENTITIES } from './entities/index.ts';
import { MIGRATIONS } from './migrations/index.ts';

export interface DbOptions {
  url: string;
  /** Most connections held open. */
  pool?: number;
  /** Shown in pg_stat_activity. */
  name?: string;
}

/** One transaction. `?` marks a parameter; a literal question mark (jsonb operators) is written `\\?`. */
export interface Tx {
  /** All rows. */
  rows<T extends object = Record<string, unknown>>(sql: string, parameters?: readonly unknown[]): Promise<T[]>;
  /** The first row, or null. */
  row<T extends object = Record<string, unknown>>(sql: string, parameters?: readonly unknown[]): Promise<T | null>;
  /** Entities, in the same transaction. */
  readonly em: EntityManager;
}

/** The database: the only way to it is a transaction that says for whom it acts. */
export interface Db {
  readonly url: string;
  readonly orm: MikroORM;
  /** Acts for one workspace: row-level security hides every other one. Every query names the workspace all the same. */
  workspace<T>(workspaceId: string, work: (tx: Tx) => Promise<T>): Promise<T>;
  /** Acts for the installation: keys are looked up, work is dispatched, leases are swept. */
  system<T>(work: (tx: Tx) => Promise<T>): Promise<T>;
  /** As `system`, on connections of its own: may be used while another transaction is open, without waiting for the same pool. */
  aside<T>(work: (tx: Tx) => Promise<T>): Promise<T>;
  close(): Promise<void>;
}

/** Opens a pool of connections. Does not migrate. */
export async function openDb(options: DbOptions): Promise<Db> {
  const orm = await MikroORM.init({
    clientUrl: options.url,
    entities: ENTITIES,
    discovery: { disableDynamicFileAccess: true },
    driverOptions: { connection: { application_name: options.name ?? 'longhand' } },
    pool: { min: 0, max: options.pool ?? 10 },
    migrations: { migrationsList: MIGRATIONS, tableName: 'longhand_migrations', snapshot: false, disableForeignKeys: false },
    extensions: [(await import('@mikro-orm/migrations')).Migrator],
    allowGlobalContext: false,
    debug: false,
  });
  const act = <T>(scope: string, work: (tx: Tx) => Promise<T>): Promise<T> =>
    orm.em.fork({ clear: true }).transactional(async (em) => {
      const context = em.getTransactionContext() as Transaction;
      const connection = em.getConnection();
      const rows = <R>(sql: string, parameters: readonly unknown[] = []) =>
        connection.execute(sql, [...parameters], 'all', context) as unknown as Promise<R[]>;
      await rows(`select set_config('longhand.workspace', ?, true)`, [scope]);
      return work({
        em: em as EntityManager,
        rows: rows as Tx['rows'],
        row: (async (sql: string, parameters?: readonly unknown[]) => (await rows(sql, parameters))[0] ?? null) as Tx['row'],
      });
    });
  return {
    url: options.url,
    orm,
    workspace: (workspaceId, work) => act(workspaceId, work),
    system: (work) => act('*', work),
    aside: (work) => act('*', work),
    close: () => orm.close(true),
  };
}
