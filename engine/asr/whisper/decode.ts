import { Shares } from './attention-store.ts';
import { Batch, type Prediction } from './batch.ts';
import { advance, best } from './beam.ts';
import { allowed } from './constraints.ts';
import { type Attempt, instructions, languageOf, listen, type Order, type Pace, type Row, type Task } from './decode-job.ts';
import type { Whisper } from './model.ts';
import { loop } from './quality.ts';
import { type Owners, type Pending, Queue } from './queue.ts';
import { corrected, generator, greedy, logitsOf, sample, weigh } from './sampling.ts';

const SPARE = 1; // rows for first windows only: a note need not wait until one of a long file ends
const LOOKS = 8; // tokens after which a row is looked at for a loop, in its latest …
const RECENT = 64; // tokens
const LONGEST = 235; // tokens of text in one window: 7 a second, and as many as the third length of the cache has room for

/**
 * Decodes windows together: whoever waits joins the batch as soon as a row is free, at any step, whatever file it belongs to. One on each
 * thread; `run` of the networks yields between steps, so that new orders come in while it works.
 */
export class Decoder {
  /** Rows decoded together for one file: no more beams than these. */
  readonly capacity: number;
  readonly #model: Whisper;
  readonly #pace: Pace | undefined;
  readonly #batch: Batch;
  readonly #waiting: Queue;
  readonly #rows: Row[] = []; // by their number in the batch
  readonly #owners: Owners = new Map();
  readonly #shares = new Shares();
  #running = false;

  /** Decodes `capacity` rows together, and one more for first windows. `pace` hears when there is work, and of every step. */
  constructor(model: Whisper, capacity: number, pace?: Pace) {
    this.#model = model;
    this.#pace = pace;
    this.capacity = capacity;
    this.#batch = new Batch(model, capacity + SPARE);
    this.#waiting = new Queue(pace);
  }

  /** Decodes one window in one manner. Rejects with what `source` or `check` throws. */
  decode(order: Order): Promise<Attempt> {
    return new Promise((resolve, reject) => {
      const { beams } = order.manner;
      if (beams > this.capacity) throw new Error(`Cannot decode with ${beams} beams: the batch holds ${this.capacity} rows`);
      this.#waiting.add({ ...order, resolve, reject });
      if (!this.#running) {
        this.#running = true;
        void this.#work();
      }
    });
  }

  /** Gives the copy in `attempt.encoded` back when the window is not decoded again any more. */
  release({ encoded }: Attempt): void {
    if (encoded) this.#batch.release(encoded);
  }

  async #work(): Promise<void> {
    this.#pace?.begin();
    try {
      while (this.#waiting.length || this.#rows.length) {
        for (let next = this.#next(); next; next = this.#next()) {
          await this.#admit(next);
          this.#dismiss();
        }
        this.#dismiss();
        if (this.#rows.length) await this.#step();
        this.#pace?.step(this.#waiting.hurried(this.#owners));
      }
    } catch (error) {
      for (const order of [...this.#owners.values(), ...this.#waiting.clear()]) order.reject(error);
      this.#owners.clear();
      while (this.#rows.length) this.#drop(this.#rows.length - 1);
    } finally {
      this.#running = false;
      this.#pace?.rest();
    }
  }

  #next(): Pending | null {
    let used = this.#rows.length;
    for (const task of this.#owners.keys()) used += task.manner.beams - this.#rows.filter((row) => row.task === task).length;
    return this.#waiting.next(this.#owners, ({ first }) => (first ? this.#batch.capacity : this.capacity) - used);
  }

  /**
   * Takes a window into the batch. Its first token runs alone: it tells language and silence, and without text, which tells of them only in
   * English-only models, it is half as much work.
   */
  async #admit(order: Pending): Promise<void> {
    try {
      order.check();
      const { facts } = this.#model;
      const number = await this.#batch.add(order.source);
      const opening = order.prompt.length ? [facts.startOfPrevious, ...order.prompt] : [];
      if (opening.length) await this.#batch.prefill(number, opening, 'special');
      const { job, manner, speech } = order;
      const prediction = await this.#batch.prefill(number, [facts.startOfTranscript], facts.languages.size ? 'special' : 'text');
      const heard = listen(prediction, facts);
      const language = order.language ?? languageOf(heard, order.expected, speech);
      const limit = Math.min(LONGEST, facts.longestText - opening.length - 5);
      const task: Task = { job, manner, speech, heard, language, limit, finished: [], random: generator(1) };
      const [feed, ...ahead] = instructions(facts, language, manner.timestamps);
      const row: Row = { task, feed: feed ?? 0, ahead, tokens: [], logProbs: [], attention: [], score: 0, resumed: [] };
      this.#rows[number] = row;
      this.#owners.set(task, order);
      if (feed === undefined) this.#choose([row], prediction); // English-only: nothing to instruct
    } catch (error) {
      if (this.#batch.size > this.#rows.length) this.#batch.remove(this.#batch.size - 1);
      order.reject(error);
    }
  }

  /** Takes out the rows of files that are no longer wanted. */
  #dismiss(): void {
    for (const [task, order] of this.#owners) {
      try {
        order.check();
      } catch (error) {
        this.#end(task);
        order.reject(error);
      }
    }
  }

  async #step(): Promise<void> {
    const rows = [...this.#rows];
    const feed = rows.map((row) => row.feed);
    this.#choose(rows, await this.#batch.step(feed, rows.some(needsLogits) ? 'logits' : 'text'));
  }

  /** Goes one token on with `rows`, in the order of `prediction`. */
  #choose(rows: readonly Row[], prediction: Prediction): void {
    const { facts } = this.#model;
    const beams = new Map<Task, Row[]>();
    const done: Task[] = [];
    rows.forEach((row, i) => {
      const next = row.ahead.shift();
      if (next !== undefined) row.feed = next;
      else if (row.task.manner.beams > 1) beams.set(row.task, [...(beams.get(row.task) ?? []), row]);
      else if (this.#extend(row, i, prediction)) done.push(row.task);
    });
    const numbers = new Map(rows.map((row, i) => [row, i]));
    for (const [task, group] of beams) {
      if (advance(task, group, { facts, prediction, rows: this.#rows, batch: this.#batch, numbers, shares: this.#shares })) done.push(task);
    }
    for (const task of done) this.#finish(task);
  }

  /** Chooses the next token of a row; true when it ended. */
  #extend(row: Row, i: number, prediction: Prediction): boolean {
    const { facts } = this.#model;
    const { task } = row;
    const { timestamps, temperature } = task.manner;
    const may = allowed(row.tokens, facts, timestamps, row.resumed);
    const scores = weigh(prediction, i, may, facts);
    const choice = temperature > 0 ? sample(logitsOf(prediction, i, may, facts), scores, facts, temperature, task.random) : greedy(scores);
    const better = corrected(choice.token, row, facts);
    const token = better ?? choice.token;
    if (better !== null) row.resumed.push(row.tokens.length);
    const width = prediction.align.length / prediction.textMax.length;
    row.score += choice.logProb;
    row.attention.push(this.#shares.keep(prediction.align, i * width, width));
    if (token === facts.endOfText) return true;
    row.tokens.push(token);
    row.logProbs.push(choice.logProb);
    row.feed = token;
    return row.tokens.length >= task.limit || (row.tokens.length % LOOKS === 0 && loop(row.tokens.slice(-RECENT)) !== null);
  }

  #finish(task: Task): void {
    const order = this.#owners.get(task)!;
    const row = task.manner.beams > 1 ? best(task, this.#rows) : this.#rows.find((row) => row.task === task)!;
    const attempt: Attempt = {
      ...task.heard,
      language: task.language,
      tokens: row.tokens,
      logProbs: row.logProbs,
      attention: row.attention,
      meanLogProb: row.score / (row.tokens.length + 1),
      resumed: row.resumed,
    };
    if (order.again?.(attempt)) attempt.encoded = this.#batch.encoded(this.#rows.findIndex((row) => row.task === task));
    this.#end(task);
    order.resolve(attempt);
  }

  #end(task: Task): void {
    this.#owners.delete(task);
    for (let i = this.#rows.length - 1; i >= 0; i--) if (this.#rows[i]!.task === task) this.#drop(i);
  }

  #drop(row: number): void {
    this.#batch.remove(row);
    const last = this.#rows.pop()!;
    if (row < this.#rows.length) this.#rows[row] = last;
  }
}

/** Whether the next token is not just the most probable one: without timestamps, the first may not be any text. */
function needsLogits({ task: { manner }, tokens, ahead }: Row): boolean {
  return ahead.length === 0 && (manner.beams > 1 || manner.temperature > 0 || (tokens.length === 0 && !manner.timestamps));
}
