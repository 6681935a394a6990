import { AsyncLocalStorage } from 'node:async_hooks';

const storage = new AsyncLocalStorage<AbortSignal>();

/** Why a query was stopped: nobody waits for what it would find. */
export class Unwanted extends Error {
  constructor() {
    super('the client has gone');
    this.name = 'Unwanted';
  }
}

/**
 * Runs `work`; when `signal` aborts, the query that runs for it is cancelled and no other begins. For work that only reads: what writes must be able to
 * tidy up after a client that went away.
 */
export function whileWanted<T>(signal: AbortSignal, work: () => Promise<T>): Promise<T> {
  return storage.run(signal, work);
}

/** Of the `whileWanted` that this runs in. */
export function currentSignal(): AbortSignal | undefined {
  return storage.getStore();
}

/** Runs work that others wait for too: it goes on when the client that asked first has gone. */
export function forAll<T>(work: () => Promise<T>): Promise<T> {
  return storage.exit(work);
}
