import { setTimeout as sleep } from 'node:timers/promises';
import { databaseAway } from './faults.ts';

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
      if (!databaseAway(error) || performance.now() > end) throw error;
      await sleep(PAUSE_MS);
    }
  }
}
