import { MikroORM } from '@mikro-orm/postgresql';
import { ENTITIES } from './entities/index.ts';
import { pipeline } from './pipeline.ts';
import { type Connection, numbered, type Pool, scoped, type Tx, transact } from './transaction.ts';
import { connectionTo } from './url.ts';

export type { Tx } from './transaction.ts';

export interface DbOptions {
  url: string;
  /** Most connections held open; two more are kept aside. */
  pool?: number;
  /** Shown in pg_stat_activity. */
  name?: string;
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
  /** One statement for one workspace, or for all with '*': a transaction in one round trip, for what is asked thousands of times a second. */
  read<T extends object = Record<string, unknown>>(scope: string, sql: string, parameters?: readonly unknown[]): Promise<T[]>;
  /** Connections take the role that the migrations made when they are used next. */
  renew(): void;
  close(): Promise<void>;
}

/** The role under which the program works where it could be made: it owns nothing and cannot bypass row-level security. */
export const APP_ROLE = 'longhand_app';

const STALE = new Set(['0A000', '26000']); // a prepared plan that a migration made wrong
const SETTINGS = `set timezone to 'UTC'; set idle_in_transaction_session_timeout to '60s'`; // a program that hangs must not keep its locks

/** Opens a pool of connections. Does not migrate. */
export async function openDb(options: DbOptions): Promise<Db> {
  const orm = await MikroORM.init({
    clientUrl: options.url,
    entities: ENTITIES,
    discovery: { disableDynamicFileAccess: true },
    driverOptions: { connection: connectionTo(options.url, options.name ?? 'longhand') },
    pool: { min: 0, max: options.pool ?? 10 },
    replicas: [{ clientUrl: options.url, pool: { min: 0, max: 2 } }], // the same server: the connections of `aside`
    preferReadReplicas: false,
    allowGlobalContext: false,
    debug: false,
  });
  let generation = 0;
  const main = openLane(orm, 'write', () => generation);
  const spare = openLane(orm, 'read', () => generation);
  return {
    url: options.url,
    orm,
    workspace: (workspaceId, work) => main.transaction(workspaceId, work),
    system: (work) => main.transaction('*', work),
    aside: (work) => spare.transaction('*', work),
    read: (scope, sql, parameters) => main.read(scope, sql, parameters) as Promise<never>,
    renew: () => void generation++,
    close: () => orm.close(true),
  };
}

/** One pool of connections, and what is done on them. */
function openLane(orm: MikroORM, type: 'write' | 'read', generation: () => number) {
  const pool = orm.em.getDriver().getConnection(type).getKnex().client as Pool;
  const prepared = new WeakMap<Connection, number>();

  async function borrow<T>(work: (connection: Connection) => Promise<T>): Promise<T> {
    const connection = await pool.acquireConnection();
    try {
      if (prepared.get(connection) !== generation()) {
        await prepare(connection);
        prepared.set(connection, generation());
      }
      return await work(connection);
    } catch (error) {
      if (STALE.has((error as { code?: string }).code ?? '')) connection.__knex__disposed = error;
      throw error;
    } finally {
      await pool.releaseConnection(connection);
    }
  }

  return {
    transaction: <T>(scope: string, work: (tx: Tx) => Promise<T>): Promise<T> => borrow((connection) => transact(connection, scope, work)),
    read: (scope: string, sql: string, parameters: readonly unknown[] = []) =>
      borrow((connection) => pipeline(connection, [scoped(scope), { text: numbered(sql), values: parameters }])),
  };
}

/** What every connection has: UTC, a limit on idle transactions, and the role without privileges where there is one. */
async function prepare(connection: Connection): Promise<void> {
  await connection.query(SETTINGS);
  const { rows } = await connection.query(
    `select 1 from pg_roles where rolname = '${APP_ROLE}' and pg_has_role(session_user, oid, 'member') and rolname <> current_user`,
  );
  if (rows.length) await connection.query(`set role ${APP_ROLE}`);
}
