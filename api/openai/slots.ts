import { setTimeout as sleep } from 'node:timers/promises';
import { Unwanted } from '../../db/postgres/wanted.ts';
import { ApiError } from '../contract/errors.ts';
import type { Context } from '../http/route.ts';

const PATIENCE_MS = 30_000;
const PAUSE_MS = 500; // mean; the pauses are random, so that those who wait do not ask at the same time
const MOST = 200; // that wait in this process; others are refused at once

let waiting = 0;

/**
 * Runs `work`, which takes an upload slot, as soon as there is one: official clients send many files at once and give up after two refusals.
 * The body is not read meanwhile. Throws 429 if all slots stay taken, `Unwanted` if the client disconnects.
 */
export async function whenFree<T>({ request }: Pick<Context, 'request'>, work: () => Promise<T>): Promise<T> {
  const until = performance.now() + PATIENCE_MS;
  for (;;) {
    try {
      return await work();
    } catch (error) {
      const taken = error instanceof ApiError && error.code === 'too_many_concurrent_uploads';
      if (!taken || waiting >= MOST || performance.now() >= until) throw error;
    }
    waiting++;
    try {
      await sleep(PAUSE_MS * (0.5 + Math.random()));
    } finally {
      waiting--;
    }
    if (request.gone()) throw new Unwanted();
  }
}
