import { setTimeout as sleep } from 'node:timers/promises';
import { databaseAway } from '../../db/postgres/away.ts';

const PATIENCE_MS = 90_000; // allows for a restart of the database
const PAUSE_MS = 500;

/**
 * Retries a write while the database is unavailable: a finished transcript must survive a restart of PostgreSQL. The write must be
 * idempotent. Errors that a retry cannot fix are thrown at once.
 */
export async function insist<T>(write: () => Promise<T>): Promise<T> {
  const end = performance.now() + PATIENCE_MS;
  for (;;) {
    try {
      return await write();
    } catch (error) {
      if (!databaseAway(error) || performance.now() > end) throw error;
      await sleep(PAUSE_MS);
    }
  }
}
