import { DecodeQueue, type Interleaver } from '../../../runtime/scheduler.ts';
import type { AnyWhisper } from '../model.ts';
import { AttentionStore } from '../timing/attention-store.ts';
import type { Batch, Prediction } from './batch.ts';
import { advance, best } from './beam.ts';
import {
  cancellation,
  type DecodeJob,
  type DecodeRequest,
  type DecodeResult,
  detailOf,
  type Hypothesis,
  leftWindow,
} from './decode-job.ts';
import { extend } from './extend.ts';
import { openBatch } from './open-batch.ts';
import { openingOf, rowOf } from './opening.ts';

const RESERVED_ROWS = 1; // rows reserved for first windows, so that a short recording need not wait for a row of a long one

/** A request waiting for its result. */
interface Pending extends DecodeRequest {
  resolve: (result: DecodeResult) => void;
  reject: (error: unknown) => void;
  /** Decoded alone, because a batched step with it failed. */
  alone?: boolean;
}

/**
 * Decodes windows in a batch: a waiting window joins at any step when a row is free, whichever file it belongs to. One per thread; `run`
 * yields between decoder steps, so that new requests can join.
 */
export class Decoder {
  /** Batch size for one file: at least the beam size. */
  readonly capacity: number;
  readonly #model: AnyWhisper;
  readonly #interleaver: Interleaver | undefined;
  readonly #batch: Batch;
  readonly #waiting: DecodeQueue<Pending>;
  readonly #rows: Hypothesis[] = []; // by row of the batch
  readonly #owners = new Map<DecodeJob, Pending>();
  readonly #shares = new AttentionStore();
  #running = false;

  /** Decodes `capacity` rows together, and one more for first windows. `interleaver` is notified of work and of every step. */
  constructor(model: AnyWhisper, capacity: number, interleaver?: Interleaver) {
    this.#model = model;
    this.#interleaver = interleaver;
    this.capacity = capacity;
    this.#batch = openBatch(model, capacity + RESERVED_ROWS);
    this.#waiting = new DecodeQueue(interleaver);
  }

  /** Decodes one window with one set of options. Rejects with what `source` or `check` throws. */
  decode(request: DecodeRequest): Promise<DecodeResult> {
    return new Promise((resolve, reject) => {
      const { beamSize } = request.options;
      if (beamSize > this.capacity) throw new Error(`Cannot decode with beam size ${beamSize}: the batch holds ${this.capacity} rows`);
      this.#waiting.add({ ...request, resolve, reject });
      if (!this.#running) {
        this.#running = true;
        void this.#work();
      }
    });
  }

  /** Releases the copy in `result.encoded` when the window will not be decoded again. */
  release({ encoded }: DecodeResult): void {
    if (encoded) this.#batch.release(encoded);
  }

  async #work(): Promise<void> {
    this.#interleaver?.begin();
    try {
      while (this.#waiting.length || this.#rows.length) {
        await this.#admit();
        this.#dismiss();
        if (this.#rows.length) await this.#step().catch((error) => this.#isolate(error));
        this.#interleaver?.step(this.#waiting.hurried(this.#owners.values()));
      }
    } catch (error) {
      for (const request of [...this.#owners.values(), ...this.#waiting.clear()]) request.reject(error);
      this.#owners.clear();
      while (this.#rows.length) this.#drop(this.#rows.length - 1);
    } finally {
      this.#running = false;
      this.#interleaver?.rest();
    }
  }

  /** The window to add after those that have `entered` the batch, if there is room for it. */
  #next(entered: readonly Pending[]): Pending | null {
    if (this.#batch.ahead) return null;
    const decoding = [...this.#owners.values(), ...entered];
    const used = decoding.reduce((sum, { options }) => sum + options.beamSize, 0);
    const room = (first?: boolean) => (first ? this.#batch.capacity : this.capacity) - used;
    const alone = decoding.some((request) => request.alone);
    const fits = (request: Pending) => !alone && (request.alone ? used === 0 : request.options.beamSize <= room(request.first));
    return this.#waiting.next(decoding, fits);
  }

  /** Adds waiting windows to the batch while rows are free, until a file is cancelled, and starts to decode them. */
  async #admit(): Promise<void> {
    const entered: Pending[] = [];
    for (let next = this.#next(entered); next; next = this.#isCancelled(entered) ? null : this.#next(entered)) {
      const row = this.#rows.length + entered.length;
      try {
        next.check();
        await this.#batch.add(next.source);
        if (next.prompt.length) await this.#batch.prefill(row, [openingOf(next.prompt, this.#model.facts)], 'nothing');
        entered.push(next);
      } catch (error) {
        if (this.#batch.size > row) this.#batch.remove(row);
        next.reject(error);
      }
    }
    if (entered.length) await this.#start(entered);
  }

  /**
   * Prefills <|startoftranscript|> of the latest rows, to read language and no-speech probability. Without text logits, needed for these only by
   * English-only models, this takes 50 % of the work.
   */
  async #start(entered: readonly Pending[]): Promise<void> {
    const { facts } = this.#model;
    const first = this.#rows.length;
    const tokens = entered.map(() => [facts.startOfTranscript]);
    let predictions: Prediction[];
    let rows: Hypothesis[];
    try {
      predictions = await this.#batch.prefill(first, tokens, facts.languages.size ? 'special' : 'text');
      rows = entered.map((request, i) => rowOf(request, predictions[i]!, facts));
    } catch (error) {
      while (this.#batch.size > first) this.#batch.remove(this.#batch.size - 1);
      return this.#restart(entered, error);
    }
    for (const [i, row] of rows.entries()) this.#owners.set(row.job, entered[i]!);
    this.#rows.push(...rows);
    for (const [i, row] of rows.entries()) {
      const { job } = row;
      const { language, leave, resolve } = entered[i]!;
      if (language === null && leave?.includes(job.language)) {
        this.#end(job);
        resolve(leftWindow(job.detection, job.language));
      } else if (!facts.languages.size && job.options.timestamps) this.#choose([row], predictions[i]!); // no instruction tokens
    }
  }

  #isolate(error: unknown): void {
    const requests = [...this.#owners.values()];
    for (const job of [...this.#owners.keys()]) this.#end(job);
    this.#restart(requests, error);
  }

  /** A failed run may be caused by any of its windows: each restarts alone, and one that fails again has failed. */
  #restart(requests: readonly Pending[], error: unknown): void {
    for (const request of requests) {
      if (requests.length === 1) request.reject(error);
      else this.#waiting.add({ ...request, alone: true });
    }
  }

  /** Whether the file of a window in the batch has been cancelled. */
  #isCancelled(entered: readonly Pending[]): boolean {
    return [...this.#owners.values(), ...entered].some((request) => cancellation(request) !== null);
  }

  /** Removes the rows of cancelled files. */
  #dismiss(): void {
    for (const [job, request] of this.#owners) {
      const failure = cancellation(request);
      if (!failure) continue;
      this.#end(job);
      request.reject(failure.error);
    }
  }

  async #step(): Promise<void> {
    const rows = [...this.#rows];
    const feed = rows.map((row) => row.feed);
    this.#choose(rows, await this.#batch.step(feed, rows.map(detailOf)));
  }

  /** Advances `rows` by one token, in the order of `prediction`. */
  #choose(rows: readonly Hypothesis[], prediction: Prediction): void {
    const numbers = new Map(rows.map((row, i) => [row, i]));
    const step = { facts: this.#model.facts, prediction, numbers, rows: this.#rows, batch: this.#batch, shares: this.#shares };
    const beams = new Map<DecodeJob, Hypothesis[]>();
    const done: DecodeJob[] = [];
    for (const row of rows) {
      const next = row.ahead.shift();
      if (next !== undefined) row.feed = next;
      else if (row.job.options.beamSize > 1) beams.set(row.job, [...(beams.get(row.job) ?? []), row]);
      else if (extend(row, step)) done.push(row.job);
    }
    for (const [job, group] of beams) if (advance(job, group, step)) done.push(job);
    for (const job of done) this.#finish(job);
  }

  #finish(job: DecodeJob): void {
    const request = this.#owners.get(job)!;
    const row = job.options.beamSize > 1 ? best(job, this.#rows) : this.#rows.find((row) => row.job === job)!;
    const result: DecodeResult = {
      ...job.detection,
      language: job.language,
      tokens: row.tokens,
      logProbs: row.logProbs,
      attention: row.attention,
      meanLogProb: row.score / (row.tokens.length + 1),
      resumed: row.resumed,
      loops: row.cuts.length,
      missed: row.missed,
    };
    if (request.again?.(result)) result.encoded = this.#batch.encoded(this.#rows.findIndex((row) => row.job === job));
    this.#end(job);
    request.resolve(result);
  }

  #end(job: DecodeJob): void {
    this.#owners.delete(job);
    for (let i = this.#rows.length - 1; i >= 0; i--) if (this.#rows[i]!.job === job) this.#drop(i);
  }

  #drop(row: number): void {
    this.#batch.remove(row);
    const last = this.#rows.pop()!;
    if (row < this.#rows.length) this.#rows[row] = last;
  }
}
