import { connect as connectTo } from 'node:net';
import pg from 'pg';
import type { Client } from './pipeline.ts';
import { connectionTo } from './url.ts';
import { currentSignal } from './wanted.ts';

/** How long a user of the database waits for what; milliseconds, 0 is no limit. */
export interface Patience {
  /** For a connection. */
  acquireMs: number;
  /** For everything done on it, measured here: a server that hangs enforces no limit of its own. */
  callMs: number;
  /** For one statement, enforced by the server. */
  statementMs: number;
  /** For one lock, enforced by the server. */
  lockMs: number;
}

/**
 * A client of the API waits 8 s at most: acquisition and call together stay below. Engines are patient, for their work takes minutes; a person at the
 * command line ends what takes too long.
 */
export const PATIENCE = {
  request: { acquireMs: 2500, callMs: 4800, statementMs: 4500, lockMs: 3000 },
  worker: { acquireMs: 10_000, callMs: 60_000, statementMs: 50_000, lockMs: 20_000 },
  operator: { acquireMs: 10_000, callMs: 0, statementMs: 0, lockMs: 0 },
} as const satisfies Record<string, Patience>;

/** The database gave no connection or no answer in time. Its SQLSTATE is that of a lost connection, so it is handled alike. */
export class DatabaseUnavailable extends Error {
  code = '08006';
}

/** A connection of the pool. */
export interface Connection extends Client {
  /** It goes through PgBouncer, which gives every transaction another server: nothing may be prepared. */
  bouncing?: boolean;
}

export interface Pool {
  /** Lends a connection to `work`; one that failed or hangs is closed, not lent again. */
  borrow<T>(work: (connection: Connection) => Promise<T>): Promise<T>;
  close(): Promise<void>;
}

const IDLE_MS = 30_000; // an unused connection is closed after this
const STALE = new Set(['0A000', '26000']); // a prepared plan that a migration made wrong

/** Opens a pool of at most `max` connections; the first is made when it is needed. */
export function openPool(address: string, name: string, max: number, patience: Patience): Pool {
  const types = new pg.TypeOverrides();
  for (const oid of [1082, 1114, 1184, 1186]) types.setTypeParser(oid, (text) => text); // date, timestamp, timestamptz, interval stay text
  const pool = new pg.Pool({
    ...connectionTo(address, name),
    max,
    types,
    connectionTimeoutMillis: patience.acquireMs,
    idleTimeoutMillis: IDLE_MS,
    allowExitOnIdle: true,
  });
  pool.on('error', () => {}); // an idle connection that was cut is replaced
  pool.on('connect', (client) => client.on('error', () => {})); // one that is cut while it is lent: its query rejects, and the process lives on

  async function acquire(): Promise<{ connection: Connection; release: (broken?: Error) => void }> {
    const lent = await pool.connect().catch((error: Error) => {
      if (!/^timeout exceeded|timeout expired$/.test(error.message)) throw error;
      throw new DatabaseUnavailable(`Cannot reach the database: no connection within ${patience.acquireMs} ms`, { cause: error });
    });
    const connection = lent as unknown as Connection;
    const release = (broken?: Error) => lent.release(broken);
    if (connection.bouncing === undefined) {
      try {
        connection.bouncing = await throughBouncer(connection, patience.acquireMs);
      } catch (error) {
        release(error as Error);
        throw error;
      }
    }
    return { connection, release };
  }

  return {
    async borrow(work) {
      const signal = currentSignal();
      signal?.throwIfAborted();
      const { connection, release } = await acquire();
      let broken: Error | undefined;
      const cancel = () => cancelOn(connection);
      signal?.addEventListener('abort', cancel, { once: true });
      try {
        return await within(patience.callMs, work(connection));
      } catch (error) {
        const { code } = error as { code?: string };
        if (error instanceof DatabaseUnavailable || STALE.has(code ?? '') || connection.failed) broken = error as Error;
        throw signal?.aborted ? signal.reason : error;
      } finally {
        signal?.removeEventListener('abort', cancel);
        release(broken);
      }
    },
    close: () => pool.end(),
  };
}

/** PgBouncer gives out numbers of its own in place of the server process's. */
async function throughBouncer(connection: Connection, limitMs: number): Promise<boolean> {
  const { rows } = await within(limitMs, connection.query('select pg_backend_pid() as pid'));
  return Number(rows[0]!.pid) !== connection.processID;
}

function within<T>(limitMs: number, work: Promise<T>): Promise<T> {
  if (!limitMs) return work;
  return new Promise((resolve, reject) => {
    const late = () => reject(new DatabaseUnavailable(`Cannot use the database: no answer within ${limitMs} ms`));
    const timer = setTimeout(late, limitMs);
    work.then(resolve, reject).finally(() => clearTimeout(timer));
  });
}

const CANCEL = 80877102; // of PostgreSQL's protocol

/** Asks the server to stop what it does for this connection. Whether that arrives is not known; the limits of time hold all the same. */
function cancelOn({ host, port, processID, secretKey }: Connection): void {
  if (!processID || !secretKey || !port) return;
  const request = Buffer.alloc(16);
  for (const [at, value] of [16, CANCEL, processID, secretKey].entries()) request.writeInt32BE(value, at * 4);
  const socket = connectTo(host?.startsWith('/') ? { path: `${host}/.s.PGSQL.${port}` } : { host: host ?? 'localhost', port });
  socket.on('error', () => {});
  socket.setTimeout(1000, () => socket.destroy());
  socket.end(request);
}
