import type { Db } from '../../db/postgres/orm.ts';
import { type Place, readStatuses } from '../../db/transcripts/statuses.ts';
import type { Status } from '../contract/transcription.ts';

/** Requests waiting for a transcription to change. They hold no database connection: one query checks all of them. */
export interface Waits {
  /**
   * Resolves when the status differs from `status`, when the transcription is deleted, after `ms`, when `signal` aborts, and when the
   * server stops.
   */
  change(place: Place, status: Status, ms: number, signal: AbortSignal): Promise<void>;
  /** Resolves all waiting requests. */
  close(): void;
}

interface Waiting extends Place {
  status: Status;
  end(): void;
}

const LOOK_MS = 500; // maximum delay until a change is noticed
const ASKED_AT_ONCE = 2_000;

export function openWaits(db: Db, failed: (error: unknown) => void): Waits {
  const waiting = new Set<Waiting>();
  let looking = false;
  let closed = false;

  async function look(): Promise<void> {
    looking = true;
    while (waiting.size) {
      await new Promise((resolve) => setTimeout(resolve, LOOK_MS));
      const all = [...waiting];
      for (let from = 0; from < all.length; from += ASKED_AT_ONCE) {
        const asked = all.slice(from, from + ASKED_AT_ONCE);
        const statuses = await readStatuses(db, asked).catch(failed); // the next round retries
        for (const one of asked) if (statuses && statuses.get(one.id) !== one.status) one.end();
      }
    }
    looking = false;
  }

  return {
    change: ({ workspaceId, id }, status, ms, signal) =>
      new Promise((resolve) => {
        if (closed || signal.aborted) return resolve();
        const one: Waiting = {
          ...{ workspaceId, id: id.toLowerCase(), status },
          end() {
            clearTimeout(late);
            signal.removeEventListener('abort', one.end);
            waiting.delete(one);
            resolve();
          },
        };
        const late = setTimeout(() => one.end(), ms);
        signal.addEventListener('abort', one.end);
        waiting.add(one);
        if (!looking) void look();
      }),
    close() {
      closed = true;
      for (const one of waiting) one.end();
    },
  };
}
