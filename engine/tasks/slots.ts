import type { Log } from '../../db/ops/log.ts';

/** Work that was taken and can be done. */
export type Job = () => Promise<void>;

/** A number of places for work of one kind. */
export interface Slots {
  /** Takes work until there is none or no place is free. Returns at once. */
  wake(): void;
  readonly running: number;
  /** Milliseconds since work was last asked for with success, or there was no place for it. */
  readonly silentMs: number;
  /** Takes nothing more; resolves when what runs has ended. */
  close(): Promise<void>;
}

/**
 * `take` asks for the next piece of work, null when there is none; it is never asked twice at once. A job that throws is logged: jobs settle
 * their own failures.
 */
export function openSlots(name: string, capacity: number, take: () => Promise<Job | null>, log: Log): Slots {
  const jobs = new Set<Promise<void>>();
  let taking: Promise<void> | null = null;
  let again = false;
  let closed = false;
  let answered = performance.now();

  async function fill(): Promise<void> {
    do {
      again = false;
      while (!closed && jobs.size < capacity) {
        const job = await take();
        answered = performance.now();
        if (!job) break;
        start(job);
      }
      if (jobs.size >= capacity) answered = performance.now();
    } while (again && !closed);
  }

  function start(job: Job): void {
    const running = job()
      .catch((error) => log.error({ error, slots: name }, 'a job failed in an unforeseen way'))
      .finally(() => {
        jobs.delete(running);
        wake();
      });
    jobs.add(running);
  }

  function wake(): void {
    if (closed) return;
    again = true;
    taking ??= fill()
      .catch((error) => log.warn({ error, slots: name }, 'no work could be asked for; trying again'))
      .finally(() => {
        taking = null;
      });
  }

  return {
    wake,
    get running() {
      return jobs.size;
    },
    get silentMs() {
      return performance.now() - answered;
    },
    async close() {
      closed = true;
      await taking;
      while (jobs.size) await Promise.all(jobs);
    },
  };
}
