import { type EntityManager, MikroORM, type Transaction } from '@mikro-orm/postgresql';
import { TransactionDriver } from './driver.ts';
import { ENTITIES } from './entities/index.ts';
import { pipeline } from './pipeline.ts';
import { openPool, PATIENCE, type Pool } from './pool.ts';
import { APP_ROLE, findRole } from './role.ts';
import { numbered, opening, type Tx, transact } from './transaction.ts';

export type { Tx } from './transaction.ts';
export { APP_ROLE };

export interface DbOptions {
  url: string;
  /** Most connections held open; two more are kept aside. */
  pool?: number;
  /** Shown in pg_stat_activity. */
  name?: string;
  /** How long statements and connections are waited for; as a worker unless given. */
  patience?: keyof typeof PATIENCE;
}

/** The database: the only way to it is a transaction that says for whom it acts. */
export interface Db {
  readonly url: string;
  readonly orm: MikroORM;
  /** Acts for one workspace: row-level security hides every other one. Every query names the workspace all the same. */
  workspace<T>(workspaceId: string, work: (tx: Tx) => Promise<T>): Promise<T>;
  /** Acts for the installation: keys are looked up, work is dispatched, leases are swept. */
  acrossTenants<T>(work: (tx: Tx) => Promise<T>): Promise<T>;
  /** As `acrossTenants`, on connections of its own: may be used while another transaction is open, without waiting for the same pool. */
  reserved<T>(work: (tx: Tx) => Promise<T>): Promise<T>;
  /** One statement for one workspace, or for all with '*': a transaction in one round trip, for what is asked thousands of times a second. */
  query<T extends object = Record<string, unknown>>(scope: string, sql: string, parameters?: readonly unknown[]): Promise<T[]>;
  /** Statements that no transaction may hold (`create database`), as the user of the address, whom no policy of rows may bind. */
  direct(sql: string): Promise<Record<string, unknown>[]>;
  /** The role that the migrations made is looked for anew. */
  renew(): void;
  close(): Promise<void>;
}

const RESERVED = 2; // connections

/** Opens pools of connections. Does not migrate. Throws when the database cannot be reached. */
export async function openDb(options: DbOptions): Promise<Db> {
  const orm = MikroORM.initSync({
    driver: TransactionDriver,
    clientUrl: options.url,
    entities: ENTITIES,
    discovery: { disableDynamicFileAccess: true },
    connect: false,
    allowGlobalContext: false,
    debug: false,
  });
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
    role ??= pools[1].borrow(findRole);
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
    await Promise.all([...pools.map((pool) => pool.close()), orm.close(true)]);
  };
  await acting('*').catch(async (error) => {
    await close();
    throw error;
  });
  return {
    url,
    orm,
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
