import { AsyncLocalStorage } from 'node:async_hooks';

const storage = new AsyncLocalStorage<AbortSignal>();

/** Abort reason of a query: nobody is waiting for its result. */
export class Unwanted extends Error {
  constructor() {
    super('the client has disconnected');
    this.name = 'Unwanted';
  }
}

/**
 * Runs `work`; when `signal` aborts, its running query is cancelled and no other is started. For reads only: writes must be able to clean
 * up after a client that disconnected.
 */
export function whileWanted<T>(signal: AbortSignal, work: () => Promise<T>): Promise<T> {
  return storage.run(signal, work);
}

/** The signal of the enclosing `whileWanted`. */
export function currentSignal(): AbortSignal | undefined {
  return storage.getStore();
}

/** Runs work whose result others wait for too: it continues when the first client disconnects. */
export function forAll<T>(work: () => Promise<T>): Promise<T> {
  return storage.exit(work);
}
