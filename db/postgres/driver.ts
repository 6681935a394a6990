import {
  type Configuration,
  PostgreSqlConnection,
  PostgreSqlDriver,
  type QueryResult,
  RawQueryFragment,
  type Transaction,
} from '@mikro-orm/postgresql';
import type { Tx } from './transaction.ts';

type Query = Parameters<PostgreSqlConnection['execute']>[0];

/**
 * Restricts MikroORM to the transaction that it is given (`Tx`): its own pool is never used, so that no entity query can escape row-level
 * security, timeouts or the caller's commit.
 */
class TransactionConnection extends PostgreSqlConnection {
  override async execute<T extends QueryResult | object>(
    query: Query,
    parameters: unknown[] = [],
    method: 'all' | 'get' | 'run' = 'all',
    transaction?: Transaction,
  ): Promise<T> {
    if (!transaction) throw new Error('Cannot run a query outside a transaction: use the entity manager of a Tx');
    const { sql, bindings } = typeof query === 'string' ? { sql: query, bindings: parameters } : query.toSQL();
    const whole = insertFragments(sql, bindings as unknown[]);
    const { rows, count } = await (transaction as Tx).outcome(whole.sql, whole.bindings);
    return this.transformRawResult<T>({ rows, rowCount: count }, method);
  }
}

/**
 * Inserts SQL fragments (`raw`, see expressions.ts) into the statement. MikroORM does this itself only when its own pool runs the
 * statement.
 */
function insertFragments(sql: string, bindings: readonly unknown[]): { sql: string; bindings: unknown[] } {
  if (!bindings.some((binding) => binding instanceof RawQueryFragment)) return { sql, bindings: [...bindings] };
  const all: unknown[] = [];
  let at = 0;
  const whole = sql.replace(/\\\?|\?/g, (mark) => {
    if (mark !== '?') return mark;
    const binding = bindings[at++];
    const fragment = binding instanceof RawQueryFragment ? binding : null;
    all.push(...(fragment ? fragment.params : [binding]));
    return fragment ? fragment.sql : '?';
  });
  return { sql: whole, bindings: all };
}

export class TransactionDriver extends PostgreSqlDriver {
  protected override readonly connection: TransactionConnection;

  constructor(config: Configuration) {
    super(config);
    this.connection = new TransactionConnection(config);
  }
}
