import { type EntityManager, MikroORM, type Transaction } from '@mikro-orm/postgresql';
import { TransactionDriver } from './driver.ts';
import { ENTITIES } from './entities/index.ts';
import { pipeline } from './pipeline.ts';
import { openPool, PATIENCE, type Pool } from './pool.ts';
import { APP_ROLE, findRole } from './role.ts';
import { numbered, opening, type Tx, transact } from './transaction.ts';
import { forAll } from './wanted.ts';

export type { Tx } from './transaction.ts';
export { APP_ROLE };

export interface DbOptions {
  url: string;
  /** Maximum number of open connections; two more are reserved. */
  pool?: number;
  /** Shown in pg_stat_activity. */
  name?: string;
  /** Timeouts for statements and connections; default: those of a worker. */
  patience?: keyof typeof PATIENCE;
}

/** The database. It is accessed only through transactions that declare for whom they act. */
export interface Db {
  readonly url: string;
  /** Acts for one workspace: row-level security hides all others. Queries filter by workspace nevertheless. */
  workspace<T>(workspaceId: string, work: (tx: Tx) => Promise<T>): Promise<T>;
  /** Acts for the installation: key look-ups, dispatch, leases. */
  acrossTenants<T>(work: (tx: Tx) => Promise<T>): Promise<T>;
  /** As `acrossTenants`, on reserved connections: can be used while another transaction is open without waiting for the same pool. */
  reserved<T>(work: (tx: Tx) => Promise<T>): Promise<T>;
  /**
   * One statement for one workspace, or for all with '*': a transaction in one round trip, for queries made thousands of times per second.
   */
  query<T extends object = Record<string, unknown>>(scope: string, sql: string, parameters?: readonly unknown[]): Promise<T[]>;
  /**
   * Runs statements that are not allowed in a transaction (`create database`), as the user in the URL, who may bypass row-level security.
   */
  direct(sql: string): Promise<Record<string, unknown>[]>;
  /** Looks up the role created by the migrations again. */
  renew(): void;
  close(): Promise<void>;
}

const RESERVED = 2; // connections

let mapping: MikroORM | undefined;

/** MikroORM with all entities. It never connects (driver.ts), so that all databases of a process share it: discovery takes 0.1 s. */
export function entityMapping(): MikroORM {
  mapping ??= MikroORM.initSync({
    driver: TransactionDriver,
    dbName: 'none',
    entities: ENTITIES,
    discovery: { disableDynamicFileAccess: true },
    connect: false,
    allowGlobalContext: false,
    debug: false,
  });
  return mapping;
}

/** Opens the connection pools. Does not migrate. Throws if the database cannot be reached. */
export async function openDb(options: DbOptions): Promise<Db> {
  const orm = entityMapping();
  const fork = (tx: Tx): EntityManager => {
    const em = orm.em.fork();
    em.setTransactionContext(tx as unknown as Transaction);
    return em;
  };
  const { url, name = 'longhand' } = options;
  const patience = PATIENCE[options.patience ?? 'worker'];
  const ownLimit = /statement_timeout/.test(new URL(url).searchParams.get('options') ?? '');
  const pools = [openPool(url, name, options.pool ?? 10, patience), openPool(url, name, RESERVED, patience)] as const;
  let role: Promise<string> | null = null;
  const acting = async (scope: string) => {
    role ??= forAll(() => pools[1].borrow(findRole));
    role.catch(() => {
      role = null;
    });
    return { scope, role: await role, patience, ownLimit };
  };
  const transaction = async <T>(pool: Pool, scope: string, work: (tx: Tx) => Promise<T>): Promise<T> => {
    const as = await acting(scope);
    return pool.borrow((connection) => transact(connection, as, fork, work));
  };
  const query = async (scope: string, sql: string, parameters: readonly unknown[] = []) => {
    const as = await acting(scope);
    const { rows } = await pools[0].borrow((connection) =>
      pipeline(connection, [opening(as), { text: numbered(sql), values: parameters }]),
    );
    return rows;
  };
  const close = async () => {
    await Promise.all(pools.map((pool) => pool.close()));
  };
  await acting('*').catch(async (error) => {
    await close();
    throw error;
  });
  return {
    url,
    workspace: (workspaceId, work) => transaction(pools[0], workspaceId, work),
    acrossTenants: (work) => transaction(pools[0], '*', work),
    reserved: (work) => transaction(pools[1], '*', work),
    query: query as Db['query'],
    direct: (sql) => pools[0].borrow(async (connection) => (await connection.query(sql)).rows),
    renew: () => {
      role = null;
    },
    close,
  };
}
