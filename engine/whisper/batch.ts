import { type Feeds, float32, int64, type Tensor, tensor } from '../session.ts';
import { NEVER, type Whisper } from './model.ts';

/** Lengths of the cache, in positions: few shapes keep the runtime's arena small. */
const BUCKETS = [64, 128, 224, 448] as const;
type Numbers = Float32Array | Int8Array | Uint8Array | Uint16Array;

/** What the decoder says about the next token of every row, [rows] each unless noted. A log-probability is a max minus `lse`. */
export interface Prediction {
  textId: BigInt64Array;
  textMax: Float32Array;
  timeId: BigInt64Array;
  timeMax: Float32Array;
  timeLse: Float32Array;
  lse: Float32Array;
  /** Attention of the alignment heads, [rows x heads x frames]. */
  align: Float32Array;
  /** Logits of the ids from end-of-text up to the first timestamp, [rows x X]; only when asked for. */
  special?: Float32Array;
  /** Logits with bias, [rows x vocabulary]; only when asked for. */
  logits?: Float32Array;
}

/**
 * The memory of rows that are decoded together: rows lie without gaps, each with its own position, so that a finished one can leave and
 * another one join at any step. Keys and values of the cache [rows x heads x positions x width] have unused positions masked.
 */
export class Batch {
  readonly capacity: number;
  size = 0;
  /** Forbidden tokens of the next step, [capacity x vocabulary]; the owner fills it. */
  readonly bias: Float32Array;
  readonly #model: Whisper;
  readonly #cross = new Map<string, { data: Numbers; dims: readonly number[]; type: Tensor['type'] }>();
  readonly #cache: Float32Array[] = []; // keys of layer 0, values of layer 0, keys of layer 1 …
  readonly #names: string[] = [];
  readonly #outputs: string[];
  readonly #used: Int32Array; // positions in the cache of each row
  #positions = 0;

  constructor(model: Whisper, capacity: number) {
    this.#model = model;
    this.capacity = capacity;
    this.bias = new Float32Array(capacity * model.facts.vocabulary);
    this.#used = new Int32Array(capacity);
    for (let layer = 0; layer < model.facts.layers; layer++) this.#names.push(`k${layer}`, `v${layer}`);
    this.#outputs = ['textId', 'textMax', 'timeId', 'timeMax', 'timeLse', 'lse', 'align', ...this.#names.map((name) => `n${name}`)];
    this.#resize(BUCKETS[0]);
  }

  /** Bias of one row, [vocabulary]. */
  biasOf(row: number): Float32Array {
    const { vocabulary } = this.#model.facts;
    return this.bias.subarray(row * vocabulary, (row + 1) * vocabulary);
  }

  /** Takes the encoder's outputs of one window in; the row's number is returned. */
  add(encoded: Record<string, Tensor>): number {
    if (this.size >= this.capacity) throw new Error(`Cannot add a row: the batch holds ${this.size} of ${this.capacity} already`);
    const row = this.size++;
    for (const name of this.#model.cross) {
      const tensor = encoded[name]!;
      const data = tensor.data as Numbers;
      let store = this.#cross.get(name);
      if (!store) {
        const make = data.constructor as new (length: number) => Numbers;
        store = { data: new make(data.length * this.capacity), dims: tensor.dims.slice(1), type: tensor.type };
        this.#cross.set(name, store);
      }
      store.data.set(data as never, row * data.length);
    }
    this.#used[row] = 0;
    return row;
  }

  /** A copy of what the encoder said about a row's window, to add it once more. */
  encoded(row: number): Record<string, Tensor> {
    const copies: Record<string, Tensor> = {};
    for (const [name, { data, dims, type }] of this.#cross) {
      const each = data.length / this.capacity;
      copies[name] = tensor(type, data.slice(row * each, (row + 1) * each), [1, ...dims]);
    }
    return copies;
  }

  /** Adds a row that is a copy of another one: window, cache and position. */
  fork(source: number): number {
    const row = this.size++;
    for (const { data } of this.#cross.values()) copyRow(data, data.length / this.capacity, source, row);
    this.#copyCache(source, row);
    return row;
  }

  /** Makes the cache of `row` that of `source`; both hold the same window. */
  follow(row: number, source: number): void {
    this.#copyCache(source, row);
  }

  /** Forgets the positions of a row from `position` on. */
  rewind(row: number, position: number): void {
    this.#used[row] = position;
  }

  /** Takes a row out; the last row moves to its place. */
  remove(row: number): void {
    const last = --this.size;
    if (row !== last) {
      for (const { data } of this.#cross.values()) copyRow(data, data.length / this.capacity, last, row);
      this.#copyCache(last, row);
    }
    this.#shrink();
  }

  /** Runs the decoder on one new token per row and keeps the new cache rows. */
  step(tokens: readonly number[], also: readonly string[]): Promise<Prediction> {
    return this.#run(0, this.size, tokens, 1, also);
  }

  /** Runs the decoder on several tokens of one row: a prompt. */
  prefill(row: number, tokens: readonly number[], also: readonly string[]): Promise<Prediction> {
    return this.#run(row, 1, tokens, tokens.length, also);
  }

  async #run(first: number, rows: number, tokens: readonly number[], length: number, also: readonly string[]): Promise<Prediction> {
    let most = 0;
    for (let row = first; row < first + rows; row++) most = Math.max(most, this.#used[row]! + length);
    if (most > this.#positions) this.#resize(bucketFor(most));
    const output = await this.#model.decoder.run(this.#feeds(first, rows, tokens, length), [...this.#outputs, ...also]);
    const { heads, headWidth } = this.#model.facts;
    this.#names.forEach((name, i) => {
      const fresh = output[`n${name}`]!.data as Float32Array; // [rows x heads x length x width]
      const cache = this.#cache[i]!;
      for (let r = 0; r < rows; r++) {
        for (let head = 0; head < heads; head++) {
          const from = (r * heads + head) * length * headWidth;
          const to = (((first + r) * heads + head) * this.#positions + this.#used[first + r]!) * headWidth;
          cache.set(fresh.subarray(from, from + length * headWidth), to);
        }
      }
    });
    for (let row = first; row < first + rows; row++) this.#used[row]! += length;
    const prediction: Record<string, unknown> = {};
    for (const [name, tensor] of Object.entries(output)) prediction[name] = tensor.data;
    return prediction as unknown as Prediction;
  }

  #feeds(first: number, rows: number, tokens: readonly number[], length: number): Feeds {
    const { heads, headWidth, vocabulary } = this.#model.facts;
    const positions = new BigInt64Array(rows * length);
    const width = this.#positions + length;
    const mask = new Float32Array(rows * length * width);
    for (let r = 0; r < rows; r++) {
      const used = this.#used[first + r]!;
      for (let q = 0; q < length; q++) {
        const at = (r * length + q) * width;
        positions[r * length + q] = BigInt(used + q);
        mask.fill(NEVER, at + used, at + this.#positions);
        mask.fill(NEVER, at + this.#positions + q + 1, at + width);
      }
    }
    const feeds: Feeds = {
      tokens: int64(BigInt64Array.from(tokens, BigInt), [rows, length]),
      pos: int64(positions, [rows, length]),
      mask: float32(mask, [rows, 1, length, width]),
      bias: float32(this.bias.subarray(first * vocabulary, (first + rows) * vocabulary), [rows, vocabulary]),
    };
    const each = heads * this.#positions * headWidth;
    this.#names.forEach((name, i) => {
      feeds[`p${name}`] = float32(this.#cache[i]!.subarray(first * each, (first + rows) * each), [rows, heads, this.#positions, headWidth]);
    });
    for (const [name, { data, dims, type }] of this.#cross) {
      const each = data.length / this.capacity;
      feeds[name] = tensor(type, data.subarray(first * each, (first + rows) * each), [rows, ...dims]);
    }
    return feeds;
  }

  #copyCache(from: number, to: number): void {
    const { heads, headWidth } = this.#model.facts;
    const each = this.#positions * headWidth;
    const used = this.#used[from]! * headWidth;
    for (const cache of this.#cache) {
      for (let head = 0; head < heads; head++) {
        const at = (from * heads + head) * each;
        cache.copyWithin((to * heads + head) * each, at, at + used);
      }
    }
    this.#used[to] = this.#used[from]!;
  }

  #shrink(): void {
    let most = 0;
    for (let row = 0; row < this.size; row++) most = Math.max(most, this.#used[row]!);
    const wanted = bucketFor(most + BUCKETS[0] / 2);
    if (wanted < this.#positions) this.#resize(wanted);
  }

  /** Moves the cache to another number of positions. */
  #resize(positions: number): void {
    const { heads, headWidth, layers } = this.#model.facts;
    const before = this.#positions;
    for (let i = 0; i < 2 * layers; i++) {
      const old = this.#cache[i];
      const next = new Float32Array(this.capacity * heads * positions * headWidth);
      for (let row = 0; old && row < this.size; row++) {
        const used = this.#used[row]! * headWidth;
        for (let head = 0; head < heads; head++) {
          const at = (row * heads + head) * before * headWidth;
          next.set(old.subarray(at, at + used), (row * heads + head) * positions * headWidth);
        }
      }
      this.#cache[i] = next;
    }
    this.#positions = positions;
  }
}

function bucketFor(positions: number): number {
  const bucket = BUCKETS.find((size) => size >= positions);
  if (!bucket) throw new Error(`Cannot decode ${positions} tokens in one window: at most ${BUCKETS.at(-1)} fit`);
  return bucket;
}

function copyRow(data: Numbers, each: number, from: number, to: number): void {
  data.copyWithin(to * each, from * each, (from + 1) * each);
}
