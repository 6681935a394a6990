import type { DecodeJob, DecodeRequest, DecodeResult, Pace } from './decode-job.ts';

/** A request whose answer is waited for. */
export interface Pending extends DecodeRequest {
  resolve: (result: DecodeResult) => void;
  reject: (error: unknown) => void;
}

/** What is being decoded, and for whom. */
export type Owners = Map<DecodeJob, Pending>;

/** Requests that wait for room in the batch, and which of them is served next. */
export class Queue {
  readonly #pace: Pace | undefined;
  readonly #waiting: Pending[] = [];

  constructor(pace?: Pace) {
    this.#pace = pace;
  }

  get length(): number {
    return this.#waiting.length;
  }

  add(request: Pending): void {
    this.#waiting.push(request);
  }

  /** Takes all out. */
  clear(): Pending[] {
    return this.#waiting.splice(0);
  }

  /** The files of which a first window is decoded or waits. */
  hurried(owners: Owners): Set<number> {
    return new Set([...owners.values(), ...this.#waiting].flatMap(({ first, file }) => (first ? [file] : [])));
  }

  /**
   * Takes out the request that is served next, if `room` has rows for it: first windows of a file, then those encoded already, then files in turn
   * by how many rows they have. To encode a window takes as long as a dozen steps: beside a first window of another file it is done now and then.
   */
  next(owners: Owners, room: (request: DecodeRequest) => number): Pending | null {
    const hurried = this.hurried(owners);
    const held = ({ first, urgent, file }: DecodeRequest) =>
      hurried.size > 0 && !first && !urgent && !hurried.has(file) && this.#pace?.mayRun(file) === false;
    const shares = new Map<number, number>();
    for (const { file } of owners.keys()) shares.set(file, (shares.get(file) ?? 0) + 1);
    let chosen = -1;
    let lowest = Number.POSITIVE_INFINITY;
    this.#waiting.forEach((request, i) => {
      const share = request.first ? -2 : request.urgent ? -1 : (shares.get(request.file) ?? 0);
      if (share < lowest && !held(request)) [chosen, lowest] = [i, share];
    });
    const request = this.#waiting[chosen];
    if (!request || request.options.beams > room(request)) return null;
    if (hurried.size > 0 && !request.first) this.#pace?.ran();
    return this.#waiting.splice(chosen, 1)[0]!;
  }
}
