import type { EntityManager } from '@mikro-orm/postgresql';
import { LRUCache } from 'lru-cache';
import { type Outcome, pipeline, type Statement } from './pipeline.ts';
import type { Connection, Patience } from './pool.ts';

/**
 * One transaction. Plain reads and writes go through `em`; statements whose plan matters (claims, leases, lists, totals) are SQL in the
 * same transaction. In SQL `?` marks a parameter; a literal question mark (jsonb operators) is written `\\?`.
 */
export interface Tx {
  /** MikroORM on this transaction: entities, QueryBuilder. Its identity map is discarded when the transaction ends. */
  readonly em: EntityManager;
  /** All rows. Timestamps and numerics are returned as strings. */
  rows<T extends object = Record<string, unknown>>(sql: string, parameters?: readonly unknown[]): Promise<T[]>;
  /** The first row, or null. */
  row<T extends object = Record<string, unknown>>(sql: string, parameters?: readonly unknown[]): Promise<T | null>;
  /** As `rows`, with the number of affected rows. */
  outcome(sql: string, parameters?: readonly unknown[]): Promise<Outcome>;
}

/** For whom and with which limits statements run. */
export interface Acting {
  /** A workspace, or '*' for the installation. */
  scope: string;
  /** The role that cannot bypass row-level security; 'none' if the migrations could not create it. */
  role: string;
  patience: Patience;
  /** The database URL sets a statement timeout itself. */
  ownLimit: boolean;
}

const IDLE_MS = 60_000; // a hanging program must not keep its locks

/**
 * Settings of one transaction: scope, role and timeouts. Uses `set local` instead of session settings, so that it works with PgBouncer's
 * transaction pooling.
 */
export function opening({ scope, role, patience, ownLimit }: Acting): Statement {
  const limit = ownLimit ? '' : `, set_config('statement_timeout', $4, true)`;
  return {
    text: `select set_config('longhand.workspace', $1, true), set_config('role', $2, true), set_config('timezone', 'UTC', true),
      set_config('idle_in_transaction_session_timeout', '${IDLE_MS}', true), set_config('lock_timeout', $3, true)${limit}`,
    values: [scope, role, patience.lockMs, ...(ownLimit ? [] : [patience.statementMs])],
  };
}

/**
 * Runs `work` in one transaction on `connection`. The transaction begins with the first statement, in the same round trip. `fork` creates
 * its entity manager.
 */
export async function transact<T>(
  connection: Connection,
  acting: Acting,
  fork: (tx: Tx) => EntityManager,
  work: (tx: Tx) => Promise<T>,
): Promise<T> {
  let last: Promise<unknown> = Promise.resolve();
  let begun = false;
  const begin = (): Statement[] => {
    if (begun) return [];
    begun = true;
    return [{ text: 'begin', values: [] }, opening(acting)];
  };
  const outcome = (sql: string, parameters: readonly unknown[] = []) => {
    const result = last.then(() => pipeline(connection, [...begin(), { text: numbered(sql), values: parameters }]));
    last = result.catch(() => {}); // the caller handles it
    return result;
  };
  const rows = async (sql: string, parameters?: readonly unknown[]) => (await outcome(sql, parameters)).rows;
  let em: EntityManager | undefined;
  const tx: Tx = {
    outcome,
    rows: rows as Tx['rows'],
    row: (async (sql: string, parameters?: readonly unknown[]) => (await rows(sql, parameters))[0] ?? null) as Tx['row'],
    get em() {
      em ??= fork(tx);
      return em;
    },
  };
  try {
    const result = await work(tx);
    if (em) await em.flush();
    await last;
    if (begun) await commit(connection);
    return result;
  } catch (error) {
    await last;
    if (begun) await rollback(connection);
    throw error;
  }
}

async function commit(connection: Connection): Promise<void> {
  const { command } = await connection.query('commit');
  if (command === 'ROLLBACK')
    throw new Error('Cannot commit the transaction: one of its statements failed and the error was not passed on');
}

async function rollback(connection: Connection): Promise<void> {
  await connection.query('rollback').catch(() => {
    connection.failed = true;
  });
}

const texts = new LRUCache<string, string>({ max: 2000 });

/** `?` -> $1, $2 …; `\\?` -> ? */
export function numbered(sql: string): string {
  const known = texts.get(sql);
  if (known) return known;
  let count = 0;
  const text = sql.replace(/\\\?|\?/g, (mark) => (mark === '?' ? `$${++count}` : '?'));
  texts.set(sql, text);
  return text;
}
