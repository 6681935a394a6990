import { setTimeout as sleep } from 'node:timers/promises';

const PATIENCE_MS = 90_000; // a restart of the database, and then some
const PAUSE_MS = 500;

/**
 * Repeats a write that the database could not take because it was away: a finished transcript must outlive a restart of PostgreSQL. The write
 * must be safe to repeat. Errors that a repetition cannot mend are thrown at once.
 */
export async function insist<T>(write: () => Promise<T>): Promise<T> {
  const end = performance.now() + PATIENCE_MS;
  for (;;) {
    try {
      return await write();
    } catch (error) {
      if (!passing(error) || performance.now() > end) throw error;
      await sleep(PAUSE_MS);
    }
  }
}

/** Connection trouble, shutdown, restart, too many connections, deadlock: not the fault of the statement. */
function passing(error: unknown): boolean {
  const { code, message = '' } = error as { code?: string; message?: string };
  if (code && /^(08|53|57P0|40)/.test(code)) return true;
  if (code && /^(ECONN|EPIPE|ETIMEDOUT|EHOSTUNREACH|ENETUNREACH|ENOTFOUND|EAI_AGAIN)/.test(code)) return true;
  return /connection (terminated|ended|error)|not queryable|timeout acquiring a connection/i.test(message);
}
