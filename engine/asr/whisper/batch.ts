import { type Feeds, type Fetches, int64, type Tensor, tensor } from '../../runtime/session.ts';
import { Cache } from './cache.ts';
import type { Encoded, Source } from './decode-job.ts';
import type { Whisper } from './model.ts';

const SPARE_COPIES = 2; // of what the encoder said of a window that are kept for the next: each takes 10 MB for base, 74 MB for medium

type Numbers = Float32Array | Int8Array | Uint8Array | Uint16Array;

/** What the decoder says about the next token of every row, before any rule; until the next step. */
export interface Prediction {
  /** Of text, without what a transcript never holds, [rows]: the most probable id, its logit, and the logarithm of the sum of all exponentials. */
  textId: BigInt64Array;
  textMax: Float32Array;
  textLse: Float32Array;
  /** Logits of the ids from end-of-text on: special tokens, then timestamps, [rows x X]. */
  special: Float32Array;
  /** Attention of the alignment heads, [rows x heads x frames]. */
  align: Float32Array;
  /** Logits of text, [rows x end-of-text]; only when asked for. */
  text?: Float32Array;
}

/** How much of text a step tells: `special` leaves it out, which saves half the time of a single row; `logits` adds all of it. */
export type Detail = 'special' | 'text' | 'logits';

/** Values of all rows, one after the other; `dims` without the rows. */
interface Store {
  data: Numbers;
  dims: readonly number[];
  type: Tensor['type'];
}

/**
 * The memory of rows that are decoded together: rows lie without gaps, each with its own position, so that a finished one can leave and
 * another one join at any step. The runtime writes into this memory directly: nothing large is allocated per window or step.
 */
export class Batch {
  readonly capacity: number;
  size = 0;
  readonly #model: Whisper;
  readonly #cache: Cache;
  readonly #cross = new Map<string, Store>(); // what the encoder said
  readonly #results = new Map<string, Store>(); // of a step
  readonly #outputs: readonly string[];
  readonly #spare: Encoded[] = [];

  constructor(model: Whisper, capacity: number) {
    this.#model = model;
    this.capacity = capacity;
    this.#cache = new Cache(model.facts, model.buckets, capacity);
    this.#outputs = ['textId', 'textMax', 'textLse', 'special', 'align', ...this.#cache.names.map((name) => `n${name}`)];
  }

  /** Takes one window in; the row's number is returned. */
  async add(source: Source): Promise<number> {
    const row = this.size;
    if (row >= this.capacity) throw new Error(`Cannot add a row: the batch holds ${row} of ${this.capacity} already`);
    const into = this.#cross.size ? this.#encoded(row) : undefined;
    const encoded = await source(into);
    if (encoded !== into) this.#copyIn(encoded, row);
    this.#cache.rewind(row, 0);
    return this.size++;
  }

  /** A copy of what the encoder said about a row's window, to add it once more, until it is given back: 10 MB for base. */
  encoded(row: number): Encoded {
    const views = Object.entries(this.#encoded(row));
    const spare = this.#spare.pop();
    if (!spare)
      return Object.fromEntries(views.map(([name, { type, data, dims }]) => [name, tensor(type, (data as Numbers).slice(), dims)]));
    for (const [name, { data }] of views) (spare[name]!.data as Numbers).set(data as never);
    return spare;
  }

  /** Takes back the memory of `encoded`, for the next one. */
  release(encoded: Encoded): void {
    if (this.#spare.length < SPARE_COPIES) this.#spare.push(encoded);
  }

  /** Adds a row that is a copy of another one: window, cache and position. */
  fork(source: number): number {
    const row = this.size++;
    this.#copyWindow(source, row);
    this.#cache.copy(source, row);
    return row;
  }

  /** Makes the cache of `row` that of `source`; both hold the same window. */
  follow(row: number, source: number): void {
    this.#cache.copy(source, row);
  }

  /** Forgets the positions of a row from `position` on. */
  rewind(row: number, position: number): void {
    this.#cache.rewind(row, position);
  }

  /** Forgets the latest positions of a row. */
  retreat(row: number, count: number): void {
    this.#cache.retreat(row, count);
  }

  /** Takes a row out; the last row moves to its place. */
  remove(row: number): void {
    const last = --this.size;
    if (row !== last) {
      this.#copyWindow(last, row);
      this.#cache.copy(last, row);
    }
    this.#cache.shrink(this.size);
  }

  /** Runs the decoder on one new token per row and keeps the new cache rows. */
  step(tokens: readonly number[], detail: Detail): Promise<Prediction> {
    return this.#run(0, this.size, tokens, 1, detail);
  }

  /** Runs the decoder on several tokens of one row: a prompt. */
  prefill(row: number, tokens: readonly number[], detail: Detail): Promise<Prediction> {
    return this.#run(row, 1, tokens, tokens.length, detail);
  }

  async #run(first: number, rows: number, tokens: readonly number[], length: number, detail: Detail): Promise<Prediction> {
    this.#cache.grow(first, rows, length, Math.max(this.size, first + rows));
    const feeds = this.#feeds(first, rows, tokens, length);
    feeds.asked = everyOf(detail === 'special' ? 0 : rows);
    const output = await this.#model.decoder.run(feeds, this.#fetches(rows, length, detail));
    if (length === 1 && detail !== 'special') this.#keep(output, rows);
    this.#cache.append(first, rows, length, output);
    const prediction: Record<string, unknown> = {};
    for (const [name, tensor] of Object.entries(output)) prediction[name] = tensor.data;
    return prediction as unknown as Prediction;
  }

  #feeds(first: number, rows: number, tokens: readonly number[], length: number): Feeds {
    const { feeds, positions } = this.#cache.feeds(first, rows, length);
    feeds.tokens = int64(BigInt64Array.from(tokens, BigInt), [rows, length]);
    feeds.pos = int64(positions, [rows, length]);
    return Object.assign(feeds, this.#views(this.#cross, first, rows));
  }

  /** Where the outputs of a step go, the same memory every time; what is not known yet, and those of a prompt, the runtime allocates. */
  #fetches(rows: number, length: number, detail: Detail): Fetches {
    const known = length === 1 && detail !== 'special' ? this.#views(this.#results, 0, rows) : {};
    return Object.fromEntries([...this.#outputs, ...(detail === 'logits' ? ['text'] : [])].map((name) => [name, known[name] ?? null]));
  }

  /** Makes memory for outputs that came for the first time. */
  #keep(output: Record<string, Tensor>, rows: number): void {
    for (const [name, { data, dims, type }] of Object.entries(output)) {
      if (type !== 'float32' || this.#results.has(name)) continue;
      this.#results.set(name, { data: new Float32Array((data.length / rows) * this.capacity), dims: dims.slice(1), type });
    }
  }

  #encoded(row: number): Encoded {
    return this.#views(this.#cross, row, 1);
  }

  /** Rows [first, first + rows) of stores, without a copy. */
  #views(stores: ReadonlyMap<string, Store>, first: number, rows: number): Record<string, Tensor> {
    const views: Record<string, Tensor> = {};
    for (const [name, { data, dims, type }] of stores) {
      const each = data.length / this.capacity;
      views[name] = tensor(type, data.subarray(first * each, (first + rows) * each), [rows, ...dims]);
    }
    return views;
  }

  #copyIn(encoded: Encoded, row: number): void {
    for (const name of this.#model.cross) {
      const { dims, type } = encoded[name]!;
      const data = encoded[name]!.data as Numbers;
      let store = this.#cross.get(name);
      if (!store) {
        const make = data.constructor as new (length: number) => Numbers;
        store = { data: new make(data.length * this.capacity), dims: dims.slice(1), type };
        this.#cross.set(name, store);
      }
      store.data.set(data as never, row * data.length);
    }
  }

  #copyWindow(from: number, to: number): void {
    for (const { data } of this.#cross.values()) {
      const each = data.length / this.capacity;
      data.copyWithin(to * each, from * each, (from + 1) * each);
    }
  }
}

/** 0, 1 … */
function everyOf(rows: number): Tensor {
  const numbers = BigInt64Array.from(Array(rows).keys(), BigInt);
  return int64(numbers, [rows]);
}
