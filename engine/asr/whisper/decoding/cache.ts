import { type Feeds, float32, type Tensor } from '../../../runtime/session.ts';
import { type Facts, FORBIDDEN } from '../model.ts';

/**
 * Self-attention keys [rows x heads x width x positions] and values [rows x heads x positions x width] of the rows decoded together; unused
 * positions are masked.
 */
export class Cache {
  /** Decoder inputs are named `p<name>`, outputs `n<name>`. */
  readonly names: readonly string[];
  readonly #facts: Facts;
  readonly #buckets: readonly number[];
  readonly #capacity: number;
  readonly #data: Float32Array[] = []; // in the order of the names
  readonly #used: Int32Array; // positions in use, per row
  #positions = 0;

  /** @param buckets lengths of the cache, in positions, ascending: few, since the layout changes with each */
  constructor(facts: Facts, buckets: readonly number[], capacity: number) {
    this.#facts = facts;
    this.#buckets = buckets;
    this.#capacity = capacity;
    this.names = Array.from({ length: facts.layers }, (_, layer) => [`k${layer}`, `v${layer}`]).flat();
    this.#used = new Int32Array(capacity);
    this.#resize(buckets[0]!, 0);
  }

  /** Drops the positions of a row from `position` on. */
  rewind(row: number, position: number): void {
    this.#used[row] = position;
  }

  /** Drops the latest positions of a row. */
  retreat(row: number, count: number): void {
    this.#used[row]! -= count;
  }

  /** Copies the entries of `from` to `to`. */
  copy(from: number, to: number): void {
    const each = this.#facts.heads * this.#facts.headWidth * this.#positions;
    for (const data of this.#data) data.copyWithin(to * each, from * each, (from + 1) * each);
    this.#used[to] = this.#used[from]!;
  }

  /** Makes room for `length` more positions in rows [first, first + rows). `size`: total number of rows. */
  grow(first: number, rows: number, length: number, size: number): void {
    const most = Math.max(...this.#used.subarray(first, first + rows)) + length;
    if (most > this.#positions) this.#resize(this.#bucketFor(most), size);
  }

  /** Switches to a shorter layout after the longest of the first `size` rows has left. */
  shrink(size: number): void {
    const most = Math.max(0, ...this.#used.subarray(0, size));
    const wanted = this.#bucketFor(Math.min(this.#buckets.at(-1)!, most + this.#buckets[0]! / 2));
    if (wanted < this.#positions) this.#resize(wanted, size);
  }

  /** Decoder inputs for `length` new tokens of rows [first, first + rows): cache, mask, and the positions of these tokens. */
  feeds(first: number, rows: number, length: number): { feeds: Feeds; positions: BigInt64Array } {
    const { heads, headWidth } = this.#facts;
    const positions = new BigInt64Array(rows * length);
    const width = this.#positions + length;
    const mask = new Float32Array(rows * length * width);
    for (let r = 0; r < rows; r++) {
      const used = this.#used[first + r]!;
      for (let q = 0; q < length; q++) {
        const at = (r * length + q) * width;
        positions[r * length + q] = BigInt(used + q);
        mask.fill(FORBIDDEN, at + used, at + this.#positions);
        mask.fill(FORBIDDEN, at + this.#positions + q + 1, at + width);
      }
    }
    const feeds: Feeds = { mask: float32(mask, [rows, 1, length, width]) };
    const each = heads * this.#positions * headWidth;
    this.names.forEach((name, i) => {
      const dims = isKeys(name) ? [rows, heads, headWidth, this.#positions] : [rows, heads, this.#positions, headWidth];
      feeds[`p${name}`] = float32(this.#data[i]!.subarray(first * each, (first + rows) * each), dims);
    });
    return { feeds, positions };
  }

  /** Appends new keys and values [rows x heads x length x width] of these rows. */
  append(first: number, rows: number, length: number, output: Record<string, Tensor>): void {
    const { heads, headWidth } = this.#facts;
    this.names.forEach((name, i) => {
      const data = this.#data[i]!;
      const fresh = output[`n${name}`]!.data as Float32Array;
      const [position, channel] = isKeys(name) ? [1, this.#positions] : [headWidth, 1]; // strides
      let n = 0;
      for (let block = 0; block < rows * heads; block++) {
        const used = this.#used[first + Math.floor(block / heads)]!;
        const at = (first * heads + block) * this.#positions * headWidth;
        for (let q = used; q < used + length; q++) {
          for (let c = 0; c < headWidth; c++) data[at + q * position + c * channel] = fresh[n++]!;
        }
      }
    });
    for (let row = first; row < first + rows; row++) this.#used[row]! += length;
  }

  #bucketFor(positions: number): number {
    const bucket = this.#buckets.find((size) => size >= positions);
    if (!bucket) throw new Error(`Cannot decode ${positions} tokens in one window: at most ${this.#buckets.at(-1)} fit`);
    return bucket;
  }

  /** Changes the number of positions of the first `size` rows, in the same memory if that is large enough. */
  #resize(positions: number, size: number): void {
    const { heads, headWidth } = this.#facts;
    const longer = positions > this.#positions;
    this.names.forEach((name, i) => {
      const width = isKeys(name) ? 1 : headWidth; // contiguous numbers of a position
      const lines = isKeys(name) ? heads * headWidth : heads; // per row
      const [before, after] = [this.#positions * width, positions * width];
      const old = this.#data[i];
      const wanted = this.#capacity * heads * headWidth * positions;
      const next = old && old.length >= wanted ? old : new Float32Array(wanted);
      for (let n = old ? size * lines : 0; n > 0; n--) {
        const line = longer ? n - 1 : size * lines - n; // in an order that overwrites nothing before it has moved
        const from = line * before;
        const length = this.#used[Math.floor(line / lines)]! * width;
        if (next === old) next.copyWithin(line * after, from, from + length);
        else next.set(old!.subarray(from, from + length), line * after);
      }
      this.#data[i] = next;
    });
    this.#positions = positions;
  }
}

function isKeys(name: string): boolean {
  return name.startsWith('k');
}
