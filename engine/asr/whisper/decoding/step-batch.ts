import { type Feeds, int64, type Tensor, tensor } from '../../../runtime/session.ts';
import type { Whisper } from '../model.ts';
import type { Batch, Detail, Encoded, Prediction, Source } from './batch.ts';
import { Cache } from './cache.ts';

const SPARE_COPIES = 2; // copies of encoder outputs kept for reuse: each takes 10 MB for base, 74 MB for medium

type Numbers = Float32Array | Int8Array | Uint8Array | Uint16Array;

/** Values of all rows, contiguous; `dims` without the rows. */
interface Store {
  data: Numbers;
  dims: readonly number[];
  type: Tensor['type'];
}

/**
 * A batch whose keys and values are in the host's memory: contiguous, each row with its own position, so that a finished row can leave and
 * another one join at any step. onnxruntime writes into this memory directly: nothing large is allocated per window or step.
 */
export class StepBatch implements Batch {
  readonly capacity: number;
  readonly ahead = false;
  size = 0;
  readonly #model: Whisper;
  readonly #cache: Cache;
  readonly #cross = new Map<string, Store>(); // encoder outputs
  readonly #results = new Map<string, Store>(); // outputs of a step
  readonly #outputs: readonly string[];
  readonly #spare: Encoded[] = [];

  constructor(model: Whisper, capacity: number) {
    this.#model = model;
    this.capacity = capacity;
    this.#cache = new Cache(model.facts, model.buckets, capacity);
    this.#outputs = ['textId', 'textMax', 'textLse', 'special', 'align', ...this.#cache.names.map((name) => `n${name}`)];
  }

  async add(source: Source): Promise<number> {
    const row = this.size;
    if (row >= this.capacity) throw new Error(`Cannot add a row: the batch holds ${row} of ${this.capacity} already`);
    const into = this.#cross.size ? this.#encoded(row) : undefined;
    const encoded = await source(into);
    if (encoded !== into) this.#copyIn(encoded, row);
    this.#cache.rewind(row, 0);
    return this.size++;
  }

  /** A copy: 10 MB for base. */
  encoded(row: number): Encoded {
    const views = Object.entries(this.#encoded(row));
    const spare = this.#spare.pop();
    if (!spare)
      return Object.fromEntries(views.map(([name, { type, data, dims }]) => [name, tensor(type, (data as Numbers).slice(), dims)]));
    for (const [name, { data }] of views) (spare[name]!.data as Numbers).set(data as never);
    return spare;
  }

  release(encoded: Encoded): void {
    if (this.#spare.length < SPARE_COPIES) this.#spare.push(encoded);
  }

  fork(source: number): number {
    const row = this.size++;
    this.#copyWindow(source, row);
    this.#cache.copy(source, row);
    return row;
  }

  follow(row: number, source: number): void {
    this.#cache.copy(source, row);
  }

  retreat(row: number, count: number): void {
    this.#cache.retreat(row, count);
  }

  remove(row: number): void {
    const last = --this.size;
    if (row !== last) {
      this.#copyWindow(last, row);
      this.#cache.copy(last, row);
    }
    this.#cache.shrink(this.size);
  }

  step(tokens: readonly number[], details: readonly Detail[]): Promise<Prediction> {
    const detail = details.includes('logits') ? 'logits' : 'text';
    return this.#run(0, this.size, tokens, detail, this.#views(this.#results, 0, this.size));
  }

  /** One row at a time: 8-bit activations have one scale per run, so what is predicted for a row would depend on the others. */
  async prefill(first: number, tokens: readonly (readonly number[])[], detail: Detail): Promise<Prediction[]> {
    const predictions: Prediction[] = [];
    for (const [i, own] of tokens.entries()) predictions.push(await this.#run(first + i, 1, own, detail));
    return predictions;
  }

  /** Runs the decoder on the next tokens of some rows, equally many of each. `into`: memory for outputs; onnxruntime allocates others. */
  async #run(first: number, rows: number, tokens: readonly number[], detail: Detail, into?: Record<string, Tensor>): Promise<Prediction> {
    const length = tokens.length / rows;
    this.#cache.grow(first, rows, length, Math.max(this.size, first + rows));
    const feeds = this.#feeds(first, rows, tokens, length);
    const short = detail === 'special' || detail === 'nothing';
    feeds.asked = everyOf(short ? 0 : rows);
    const wanted = detail === 'logits' ? [...this.#outputs, 'text'] : this.#outputs;
    const output = await this.#model.decoder.run(feeds, Object.fromEntries(wanted.map((name) => [name, into?.[name] ?? null])));
    if (into) this.#keep(output, rows);
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

  /** Allocates buffers for outputs seen for the first time. */
  #keep(output: Record<string, Tensor>, rows: number): void {
    for (const [name, { data, dims, type }] of Object.entries(output)) {
      if (type !== 'float32' || this.#results.has(name)) continue;
      this.#results.set(name, { data: new Float32Array((data.length / rows) * this.capacity), dims: dims.slice(1), type });
    }
  }

  #encoded(row: number): Encoded {
    return this.#views(this.#cross, row, 1);
  }

  /** Views of rows [first, first + rows), without a copy. */
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
