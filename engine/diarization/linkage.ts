/** Rows of equal width, contiguous. */
export interface Rows {
  count: number;
  width: number;
  data: Float32Array;
}

/** `link` on some thread; its input is not modified. */
export type Linker = (means: Rows, weights: Float64Array, options: LinkageOptions) => Promise<Int32Array>;

const NO_PAIR = -9; // marks a missing pair: below every cosine
const REMOVED = -8;

export interface LinkageOptions {
  /** Merging ends when the highest mean cosine is below this. Not used with `speakers`. */
  stop: number;
  /** Merging continues to the last state with this many clusters of weight `minWeight`; without one, to this many clusters. */
  speakers?: number;
  minWeight?: number;
}

/**
 * Average linkage, exact: the mean cosine between the members of two clusters is the dot product of their mean unit vectors.
 * @param means [n x width] mean unit vectors (not renormalised)
 * @param weights [n] seconds behind each
 * @returns cluster of each row, counted from 0 in order of its first row
 */
export function link(means: Rows, weights: ArrayLike<number>, { stop, speakers, minWeight = 0 }: LinkageOptions): Int32Array {
  const { count: n } = means;
  const s = similarities(means);
  const w = Float64Array.from(weights);
  const best = new Int32Array(n);
  const value = new Float32Array(n);
  const findBest = (row: number) => {
    best[row] = highest(s, row * n, n);
    value[row] = s[row * n + best[row]!]!;
  };
  for (let row = 0; row < n; row++) findBest(row);
  const merges: [into: number, from: number][] = [];
  let found = -1; // number of merges in the state to return, for a known number of speakers
  let plain = 0;
  for (let left = n; ; left--) {
    if (speakers && count(w, minWeight) >= speakers) found = merges.length;
    if (speakers && left >= speakers) plain = merges.length;
    const i = highest(value, 0, n);
    if (left <= 1 || value[i]! < (speakers ? REMOVED : stop)) break;
    const j = best[i]!;
    combine(s, n, i, j, w);
    w[i]! += w[j]!;
    w[j] = -1;
    value[j] = NO_PAIR;
    merges.push([i, j]);
    for (let row = 0; row < n; row++) {
      if (value[row]! <= REMOVED) continue;
      if (best[row] === i || best[row] === j) findBest(row);
      else if (s[i * n + row]! > value[row]!) [best[row], value[row]] = [i, s[i * n + row]!];
    }
    findBest(i);
  }
  return replay(n, merges.slice(0, speakers ? (found >= 0 ? found : plain) : merges.length));
}

let matrix = new Float32Array(0); // of this thread's largest matrix so far: allocating one per block would burden the garbage collector

/** Dot products of all pairs [n x n], without the diagonal. Valid until the next call. */
function similarities({ count: n, width, data }: Rows): Float32Array {
  if (matrix.length < n * n) matrix = new Float32Array(n * n);
  const s = matrix;
  for (let a = 0; a < n; a++) {
    s[a * n + a] = NO_PAIR;
    const left = data.subarray(a * width, (a + 1) * width);
    for (let b = a + 1; b < n; b++) {
      let dot = 0;
      for (let k = 0, at = b * width; k < width; k++, at++) dot += left[k]! * data[at]!;
      s[a * n + b] = dot;
      s[b * n + a] = dot;
    }
  }
  return s;
}

/** Row and column i become the weighted mean of i and j; j is removed. */
function combine(s: Float32Array, n: number, i: number, j: number, w: Float64Array): void {
  const [wi, wj] = [w[i]!, w[j]!];
  for (let k = 0; k < n; k++) {
    const mean = k === i || k === j || s[i * n + k]! < REMOVED ? NO_PAIR : (s[i * n + k]! * wi + s[j * n + k]! * wj) / (wi + wj);
    s[i * n + k] = mean;
    s[k * n + i] = mean;
    s[j * n + k] = NO_PAIR;
    s[k * n + j] = NO_PAIR;
  }
}

function highest(values: Float32Array, from: number, n: number): number {
  let best = 0;
  for (let k = 1; k < n; k++) if (values[from + k]! > values[from + best]!) best = k;
  return best;
}

function count(weights: Float64Array, minWeight: number): number {
  let enough = 0;
  for (const weight of weights) if (weight >= minWeight && weight >= 0) enough++;
  return enough;
}

/** Labels after the merges, numbered from 0 by first row. */
function replay(n: number, merges: [number, number][]): Int32Array {
  const parent = Int32Array.from({ length: n }, (_, i) => i);
  for (const [into, from] of merges) parent[from] = into;
  const root = (row: number): number => (parent[row] === row ? row : root(parent[row]!));
  const names = new Map<number, number>();
  return Int32Array.from({ length: n }, (_, row) => {
    const top = root(row);
    if (!names.has(top)) names.set(top, names.size);
    return names.get(top)!;
  });
}
