import type { Attempt, Order, Pace, Task } from './decode-job.ts';

/** An order whose answer is waited for. */
export interface Pending extends Order {
  resolve: (attempt: Attempt) => void;
  reject: (error: unknown) => void;
}

/** What is being decoded, and for whom. */
export type Owners = Map<Task, Pending>;

/** Orders that wait for room in the batch, and which of them is served next. */
export class Queue {
  readonly #pace: Pace | undefined;
  readonly #waiting: Pending[] = [];

  constructor(pace?: Pace) {
    this.#pace = pace;
  }

  get length(): number {
    return this.#waiting.length;
  }

  add(order: Pending): void {
    this.#waiting.push(order);
  }

  /** Takes all out. */
  clear(): Pending[] {
    return this.#waiting.splice(0);
  }

  /** The files of which a first window is decoded or waits. */
  hurried(owners: Owners): Set<number> {
    return new Set([...owners.values(), ...this.#waiting].flatMap(({ first, job }) => (first ? [job] : [])));
  }

  /**
   * Takes out the order that is served next, if `room` has rows for it: first windows of a file, then those encoded already, then files in turn
   * by how many rows they have. To encode a window takes as long as a dozen steps: beside a first window of another file it is done now and then.
   */
  next(owners: Owners, room: (order: Order) => number): Pending | null {
    const hurried = this.hurried(owners);
    const held = ({ first, urgent, job }: Order) =>
      hurried.size > 0 && !first && !urgent && !hurried.has(job) && this.#pace?.mayRun(job) === false;
    const shares = new Map<number, number>();
    for (const { job } of owners.keys()) shares.set(job, (shares.get(job) ?? 0) + 1);
    let chosen = -1;
    let lowest = Number.POSITIVE_INFINITY;
    this.#waiting.forEach((order, i) => {
      const share = order.first ? -2 : order.urgent ? -1 : (shares.get(order.job) ?? 0);
      if (share < lowest && !held(order)) [chosen, lowest] = [i, share];
    });
    const order = this.#waiting[chosen];
    if (!order || order.manner.beams > room(order)) return null;
    if (hurried.size > 0 && !order.first) this.#pace?.ran();
    return this.#waiting.splice(chosen, 1)[0]!;
  }
}
