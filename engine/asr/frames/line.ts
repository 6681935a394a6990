import { setImmediate } from 'node:timers/promises';
import { DecodeQueue } from '../../runtime/scheduler.ts';

interface Place {
  file: number;
  first?: boolean;
  start(): void;
}

/**
 * Lets the windows of one thread through one by one: first windows of a file before all others. They are not batched, because a batch pads
 * every window to the longest and the encoder gains nothing from it on a CPU.
 */
export class Line {
  readonly #waiting = new DecodeQueue<Place>();
  #busy = false;

  /** Does `work` when it is the window's turn. */
  async take<T>(window: { job: number; first?: boolean }, work: () => Promise<T>): Promise<T> {
    await new Promise<void>((start) => {
      this.#waiting.add({ file: window.job, first: window.first, start });
      this.#next();
    });
    try {
      return await work();
    } finally {
      await setImmediate(); // other units that have arrived on this thread get their turn
      this.#busy = false;
      this.#next();
    }
  }

  #next(): void {
    if (this.#busy) return;
    const place = this.#waiting.next([], () => true);
    if (!place) return;
    this.#busy = true;
    place.start();
  }
}
