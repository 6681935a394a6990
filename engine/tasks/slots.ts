import type { Log } from '../../db/ops/log.ts';

/** A claimed piece of work, ready to run. */
export type Job = () => Promise<void>;

/** Slots for work of one kind. */
export interface Slots {
  /** Claims work until there is none or all slots are taken. Returns immediately. */
  wake(): void;
  readonly running: number;
  /** All slots are taken. */
  readonly full: boolean;
  /** Milliseconds since the last successful query for work, or since all slots were taken. */
  readonly silentMs: number;
  /** Stops claiming work; resolves when running jobs have finished. */
  close(): Promise<void>;
}

/**
 * `take` claims the next piece of work, null if there is none; calls never overlap. A job that throws is logged: jobs settle their own
 * failures.
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
      .catch((error) => log.error({ error, slots: name }, 'unexpected failure of a job'))
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
      .catch((error) => log.warn({ error, slots: name }, 'could not query for work; trying again'))
      .finally(() => {
        taking = null;
        if (again) wake(); // woken after the last look for work
      });
  }

  return {
    wake,
    get running() {
      return jobs.size;
    },
    get full() {
      return jobs.size >= capacity;
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
