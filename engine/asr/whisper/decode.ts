import { DecodeQueue, type Interleaver } from '../../runtime/scheduler.ts';
import { languageOf } from '../language.ts';
import { AttentionStore } from './attention-store.ts';
import type { Batch, Prediction } from './batch.ts';
import { advance, best } from './beam.ts';
import { allowed } from './constraints.ts';
import {
  type DecodeJob,
  type DecodeRequest,
  type DecodeResult,
  detailOf,
  type Hypothesis,
  instructions,
  leftWindow,
} from './decode-job.ts';
import { detectLanguage } from './language-detection.ts';
import { beyondSpeech, loopCut, repeats } from './loops.ts';
import type { AnyWhisper } from './model.ts';
import { openBatch } from './open-batch.ts';
import { corrected, generator, greedy, logitsOf, sample, weigh } from './sampling.ts';
import { noteMissed } from './vocabulary.ts';

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
        for (let next = this.#next(); next; next = this.#next()) {
          await this.#admit(next);
          this.#dismiss();
        }
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

  #next(): Pending | null {
    if (this.#batch.ahead) return null;
    let used = this.#rows.length;
    for (const job of this.#owners.keys()) used += job.options.beamSize - this.#rows.filter((row) => row.job === job).length;
    const room = (first?: boolean) => (first ? this.#batch.capacity : this.capacity) - used;
    const alone = [...this.#owners.values()].some((request) => request.alone);
    const fits = (request: Pending) => !alone && (request.alone ? used === 0 : request.options.beamSize <= room(request.first));
    return this.#waiting.next(this.#owners.values(), fits);
  }

  /**
   * Adds a window to the batch. Prefills <|startoftranscript|> alone to read language and no-speech probability; without text logits,
   * needed for these only by English-only models, this takes 50 % of the work.
   */
  async #admit(request: Pending): Promise<void> {
    try {
      request.check();
      const { facts } = this.#model;
      const number = await this.#batch.add(request.source);
      const opening = request.prompt.length ? [facts.startOfPrevious, ...request.prompt] : [];
      if (opening.length) await this.#batch.prefill(number, opening, 'nothing');
      const { file, options, speech, vocabulary } = request;
      const prediction = await this.#batch.prefill(number, [facts.startOfTranscript], facts.languages.size ? 'special' : 'text');
      const detection = detectLanguage(prediction, facts);
      const language = request.language ?? languageOf(detection.languages, request.expected, speech);
      if (request.language === null && request.leave?.includes(language)) {
        this.#batch.remove(number);
        return request.resolve(leftWindow(detection, language));
      }
      const limit = facts.longestText - opening.length - 5;
      const job: DecodeJob = { file, options, speech, vocabulary, detection, language, limit, finished: [], random: generator(1) };
      const [feed, ...ahead] = instructions(facts, language, options.timestamps);
      const row: Hypothesis = { job, feed: feed ?? 0, ahead, tokens: [], logProbs: [], attention: [], score: 0, resumed: [], cuts: [] };
      this.#rows[number] = row;
      this.#owners.set(job, request);
      if (feed === undefined) this.#choose([row], prediction); // English-only: no instruction tokens
    } catch (error) {
      if (this.#batch.size > this.#rows.length) this.#batch.remove(this.#batch.size - 1);
      request.reject(error);
    }
  }

  /** A failed step may be caused by any of its windows: each restarts alone, and one that fails again has failed. */
  #isolate(error: unknown): void {
    const requests = [...this.#owners.values()];
    for (const job of [...this.#owners.keys()]) this.#end(job);
    for (const request of requests) {
      if (requests.length === 1) request.reject(error);
      else this.#waiting.add({ ...request, alone: true });
    }
  }

  /** Removes the rows of cancelled files. */
  #dismiss(): void {
    for (const [job, request] of this.#owners) {
      try {
        request.check();
      } catch (error) {
        this.#end(job);
        request.reject(error);
      }
    }
  }

  async #step(): Promise<void> {
    const rows = [...this.#rows];
    const feed = rows.map((row) => row.feed);
    this.#choose(rows, await this.#batch.step(feed, rows.map(detailOf)));
  }

  /** Advances `rows` by one token, in the order of `prediction`. */
  #choose(rows: readonly Hypothesis[], prediction: Prediction): void {
    const { facts } = this.#model;
    const beams = new Map<DecodeJob, Hypothesis[]>();
    const done: DecodeJob[] = [];
    rows.forEach((row, i) => {
      const next = row.ahead.shift();
      if (next !== undefined) row.feed = next;
      else if (row.job.options.beamSize > 1) beams.set(row.job, [...(beams.get(row.job) ?? []), row]);
      else if (this.#extend(row, i, prediction)) done.push(row.job);
    });
    const numbers = new Map(rows.map((row, i) => [row, i]));
    for (const [job, group] of beams) {
      if (advance(job, group, { facts, prediction, rows: this.#rows, batch: this.#batch, numbers, shares: this.#shares })) done.push(job);
    }
    for (const job of done) this.#finish(job);
  }

  /** Chooses the next token of a row; true if it ended. */
  #extend(row: Hypothesis, i: number, prediction: Prediction): boolean {
    const { facts } = this.#model;
    const { job } = row;
    const { timestamps, temperature } = job.options;
    const may = allowed(row.tokens, facts, timestamps, row.resumed, row.cuts.at(-1) === row.tokens.length);
    const scores = weigh(prediction, i, may, facts);
    const choice = temperature > 0 ? sample(logitsOf(prediction, i, may, facts), scores, facts, temperature, job.random) : greedy(scores);
    const better = corrected(choice.token, row, facts);
    const token = better ?? choice.token;
    if (job.vocabulary && token < facts.endOfText)
      noteMissed(row, token, job.vocabulary, prediction.text!.subarray(i * facts.endOfText), scores.lse);
    if (better !== null) row.resumed.push(row.tokens.length);
    const width = prediction.align.length / prediction.textMax.length;
    row.score += choice.logProb;
    row.attention.push(this.#shares.keep(prediction.align, i * width, width));
    if (token === facts.endOfText) return true;
    row.tokens.push(token);
    row.logProbs.push(choice.logProb);
    row.feed = token;
    return row.tokens.length >= job.limit || beyondSpeech(row, facts) || (repeats(row.tokens) && !this.#goesOn(row));
  }

  /** Cuts off a loop of a row, which continues after it; false: it does not. */
  #goesOn(row: Hypothesis): boolean {
    const kept = loopCut(row);
    if (kept === null) return false;
    this.#batch.retreat(this.#rows.indexOf(row), row.tokens.length - kept);
    for (const list of [row.tokens, row.logProbs, row.attention]) list.length = kept;
    row.score = row.logProbs.reduce((sum, value) => sum + value, 0);
    row.feed = row.tokens.at(-1)!;
    row.cuts.push(kept);
    return true;
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
