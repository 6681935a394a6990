/**
 * SQLSTATEs of a database that is unavailable: connection lost, and most errors of PgBouncer (08); out of memory, disk or connections (53);
 * shutting down or starting (57P0); timeouts of statements, locks and transactions, which a clock that leaps also triggers; deadlock (40). The
 * statement itself is not at fault.
 */
const AWAY = /^(08|40|53|55P03|25P03|25P04|57014|57P0)/;
const CONNECTION = /^(ECONN|EPIPE|ETIMEDOUT|EHOSTUNREACH|ENETUNREACH|ENOTFOUND|EAI_AGAIN)/;
const LOST =
  /connection (terminated|ended|error)|encountered a connection error|not queryable|(timeout acquiring|unable to acquire) a connection/i;

/** After a failover, the SQLSTATE of the former primary, which still answers on its connections. */
export const READ_ONLY = '25006';

/** The database is unavailable: a retry may succeed. */
export function databaseAway(error: unknown): boolean {
  const { code, message } = error as { code?: unknown; message?: unknown };
  if (typeof code === 'string' && (code === READ_ONLY || AWAY.test(code) || CONNECTION.test(code))) return true;
  return LOST.test(String(message ?? ''));
}
