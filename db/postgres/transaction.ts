import { type Client, pipeline, type Statement } from './pipeline.ts';

/** One transaction. `?` marks a parameter; a literal question mark (jsonb operators) is written `\\?`. */
export interface Tx {
  /** All rows. Timestamps and numerics come as strings. */
  rows<T extends object = Record<string, unknown>>(sql: string, parameters?: readonly unknown[]): Promise<T[]>;
  /** The first row, or null. */
  row<T extends object = Record<string, unknown>>(sql: string, parameters?: readonly unknown[]): Promise<T | null>;
}

/** What is used of Knex's client: MikroORM's pool of connections. */
export interface Pool {
  acquireConnection(): Promise<Connection>;
  releaseConnection(connection: Connection): Promise<void>;
}

/** A connection that carries `__knex__disposed` is not used again. */
export type Connection = Client & { __knex__disposed?: unknown };

/** Says for whom a statement acts, until its transaction ends. */
export function scoped(scope: string): Statement {
  return { text: `select set_config('longhand.workspace', $1, true)`, values: [scope] };
}

/** Runs `work` in one transaction on `connection`. It begins with the first statement, in the same round trip. */
export async function transact<T>(connection: Connection, scope: string, work: (tx: Tx) => Promise<T>): Promise<T> {
  let last: Promise<unknown> = Promise.resolve();
  let begun = false;
  const opening = (): Statement[] => {
    if (begun) return [];
    begun = true;
    return [{ text: 'begin', values: [] }, scoped(scope)];
  };
  const rows = (sql: string, parameters: readonly unknown[] = []) => {
    const result = last.then(() => pipeline(connection, [...opening(), { text: numbered(sql), values: parameters }]));
    last = result.catch(() => {}); // its caller hears of it
    return result;
  };
  const tx = {
    rows: rows as Tx['rows'],
    row: (async (sql: string, parameters?: readonly unknown[]) => (await rows(sql, parameters))[0] ?? null) as Tx['row'],
  };
  try {
    const result = await work(tx);
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
  await connection.query('rollback').catch((error) => {
    connection.__knex__disposed = error;
  });
}

const texts = new Map<string, string>();
const REMEMBERED = 2000;

/** `?` -> $1, $2 …; `\\?` -> ? */
export function numbered(sql: string): string {
  const known = texts.get(sql);
  if (known) return known;
  let count = 0;
  const text = sql.replace(/\\\?|\?/g, (mark) => (mark === '?' ? `$${++count}` : '?'));
  if (texts.size >= REMEMBERED) texts.clear();
  texts.set(sql, text);
  return text;
}
