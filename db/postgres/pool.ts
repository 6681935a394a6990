import { connect as connectTo } from 'node:net';
import pg from 'pg';
import { READ_ONLY } from './away.ts';
import type { Client } from './pipeline.ts';
import { connectionTo } from './url.ts';
import { currentSignal } from './wanted.ts';

/** Timeouts in milliseconds; 0 is no limit. */
export interface Patience {
  /** To get a connection. */
  acquireMs: number;
  /** For everything done on it, measured here: a hanging server enforces no timeout. */
  callMs: number;
  /** Per statement, enforced by the server. */
  statementMs: number;
  /** Per lock, enforced by the server. */
  lockMs: number;
}

/**
 * API clients wait at most 8 s, which acquisition and call together stay below. Engines are patient, because their work takes minutes; on
 * the command line people cancel what takes too long.
 */
export const PATIENCE = {
  request: { acquireMs: 2500, callMs: 4800, statementMs: 4500, lockMs: 3000 },
  worker: { acquireMs: 10_000, callMs: 60_000, statementMs: 50_000, lockMs: 20_000 },
  operator: { acquireMs: 10_000, callMs: 0, statementMs: 0, lockMs: 0 },
} as const satisfies Record<string, Patience>;

/** No connection or no response in time. Has the SQLSTATE of a lost connection, so that it is handled the same way. */
export class DatabaseUnavailable extends Error {
  code = '08006';
}

/** A connection of the pool. */
export interface Connection extends Client {
  /** PgBouncer assigns every transaction another server connection: nothing may be prepared. */
  bouncing?: boolean;
}

export interface Pool {
  /** Lends a connection to `work`; closes it if it failed or hangs. */
  borrow<T>(work: (connection: Connection) => Promise<T>): Promise<T>;
  close(): Promise<void>;
}

const IDLE_MS = 30_000; // an idle connection is closed after this
const UNUSABLE = new Set(['0A000', '26000', READ_ONLY]); // prepared plans invalidated by a migration; a former primary

/** Opens a pool of at most `max` connections; they are created on demand. */
export function openPool(address: string, name: string, max: number, patience: Patience): Pool {
  const types = new pg.TypeOverrides();
  for (const oid of [1082, 1114, 1184, 1186]) types.setTypeParser(oid, (text) => text); // date, timestamp, timestamptz, interval are returned as text
  const pool = new pg.Pool({
    ...connectionTo(address, name),
    max,
    types,
    connectionTimeoutMillis: patience.acquireMs,
    idleTimeoutMillis: IDLE_MS,
    allowExitOnIdle: true,
  });
  pool.on('error', () => {}); // an idle connection that was lost is replaced
  pool.on('connect', (client) => client.on('error', () => {})); // if one in use is lost its query rejects; without a listener the process would crash

  async function acquire(): Promise<{ connection: Connection; release: (broken?: Error) => void }> {
    const lent = await pool.connect().catch((error: Error) => {
      if (!/^timeout exceeded|timeout expired$|connection timeout$/.test(error.message)) throw error; // pg has a message for each phase
      throw new DatabaseUnavailable(`Cannot reach the database: no connection within ${patience.acquireMs} ms`, { cause: error });
    });
    const connection = lent as unknown as Connection;
    return { connection, release: (broken?: Error) => lent.release(broken) };
  }

  return {
    async borrow(work) {
      const signal = currentSignal();
      signal?.throwIfAborted();
      const { connection, release } = await acquire();
      let broken: Error | undefined;
      let cancelled: Promise<void> | undefined;
      const cancel = () => {
        cancelled = cancelOn(connection);
      };
      signal?.addEventListener('abort', cancel, { once: true });
      const begun = async () => {
        const ready = await identified(connection);
        signal?.throwIfAborted(); // while it waited for the connection
        return work(ready);
      };
      try {
        return await within(patience.callMs, begun());
      } catch (error) {
        const { code } = error as { code?: string };
        if (error instanceof DatabaseUnavailable || UNUSABLE.has(code ?? '') || connection.failed) broken = error as Error;
        throw signal?.aborted ? signal.reason : error;
      } finally {
        signal?.removeEventListener('abort', cancel);
        await cancelled; // later it would cancel a query of the next borrower
        release(broken);
      }
    },
    close: () => pool.end(),
  };
}

/**
 * The connection, once it is known whether it goes through PgBouncer, which returns its own ids instead of the server's process id. Part of the
 * call, because PgBouncer may let it wait for a server connection.
 */
async function identified(connection: Connection): Promise<Connection> {
  if (connection.bouncing !== undefined) return connection;
  const { rows } = await connection.query('select pg_backend_pid() as pid');
  connection.bouncing = Number(rows[0]!.pid) !== connection.processID;
  return connection;
}

function within<T>(limitMs: number, work: Promise<T>): Promise<T> {
  if (!limitMs) return work;
  return new Promise((resolve, reject) => {
    const late = () => reject(new DatabaseUnavailable(`Cannot use the database: no answer within ${limitMs} ms`));
    const timer = setTimeout(late, limitMs);
    work.then(resolve, reject).finally(() => clearTimeout(timer));
  });
}

const CANCEL = 80877102; // code in PostgreSQL's protocol

/** Asks the server to cancel the running query, and waits until it has been told. Success is unknown; the timeouts apply regardless. */
function cancelOn({ host, port, processID, secretKey }: Connection): Promise<void> {
  if (!processID || !secretKey || !port) return Promise.resolve();
  const request = Buffer.alloc(16);
  for (const [at, value] of [16, CANCEL, processID, secretKey].entries()) request.writeInt32BE(value, at * 4);
  const socket = connectTo(host?.startsWith('/') ? { path: `${host}/.s.PGSQL.${port}` } : { host: host ?? 'localhost', port });
  socket.on('error', () => {});
  socket.setTimeout(1000, () => socket.destroy());
  socket.resume().write(request); // the server closes the connection once it has passed the request on
  return new Promise((resolve) => socket.once('close', () => resolve()));
}
