import type { Sentence } from './sentences.ts';

const DAMPING = 0.85;
const ROUNDS = 30;

/** Rows are sentences, columns are stems, values are tf-idf normalised to unit length: compressed sparse rows. */
export interface Matrix {
  rows: number;
  columns: number;
  from: Int32Array;
  column: Int32Array;
  value: Float32Array;
}

/** The tf-idf matrix of these sentences. */
export function matrixOf(sentences: readonly Sentence[]): Matrix {
  const ids = new Map<string, number>();
  const frequency: number[] = [];
  const counts = sentences.map((sentence) => {
    const row = new Map<number, number>();
    for (const term of sentence.terms) {
      let id = ids.get(term);
      if (id === undefined) ids.set(term, (id = ids.size));
      row.set(id, (row.get(id) ?? 0) + 1);
    }
    for (const id of row.keys()) frequency[id] = (frequency[id] ?? 0) + 1;
    return row;
  });
  const size = counts.reduce((sum, row) => sum + row.size, 0);
  const matrix = {
    rows: sentences.length,
    columns: ids.size,
    from: new Int32Array(sentences.length + 1),
    column: new Int32Array(size),
    value: new Float32Array(size),
  };
  let at = 0;
  counts.forEach((row, index) => {
    const weights = [...row].map(([id, count]) => [id, (1 + Math.log(count)) * Math.log(1 + sentences.length / frequency[id]!)] as const);
    const length = Math.hypot(...weights.map(([, weight]) => weight)) || 1;
    for (const [id, weight] of weights) {
      matrix.column[at] = id;
      matrix.value[at++] = weight / length;
    }
    matrix.from[index + 1] = at;
  });
  return matrix;
}

/**
 * LexRank (Erkan and Radev 2004): the centrality of each sentence in the graph of cosine similarities, 1 on average. The graph is the
 * matrix times its transpose; it is never built, so that an iteration costs one pass over the words.
 */
export function centrality(matrix: Matrix): Float64Array {
  const degree = similarTo(matrix, new Float64Array(matrix.rows).fill(1));
  let rank = new Float64Array(matrix.rows).fill(1);
  for (let round = 0; round < ROUNDS; round++) {
    const spread = similarTo(
      matrix,
      rank.map((value, index) => (degree[index]! > 1e-9 ? value / degree[index]! : 0)),
    );
    rank = spread.map((value) => 1 - DAMPING + DAMPING * value);
  }
  return rank;
}

/** For each sentence, the sum over all others of similarity times weight. */
function similarTo(matrix: Matrix, weights: Float64Array): Float64Array<ArrayBuffer> {
  const { rows, from, column, value } = matrix;
  const sums = new Float64Array(matrix.columns);
  for (let row = 0; row < rows; row++)
    for (let at = from[row]!; at < from[row + 1]!; at++) sums[column[at]!]! += value[at]! * weights[row]!;
  const result = new Float64Array(rows);
  for (let row = 0; row < rows; row++) {
    let sum = 0;
    for (let at = from[row]!; at < from[row + 1]!; at++) sum += value[at]! * (sums[column[at]!]! - value[at]! * weights[row]!);
    result[row] = Math.max(0, sum);
  }
  return result;
}

/** Cosine similarity of two sentences, 0 to 1. */
export function similarity(matrix: Matrix, a: number, b: number): number {
  const { from, column, value } = matrix;
  let sum = 0;
  for (let i = from[a]!; i < from[a + 1]!; i++)
    for (let j = from[b]!; j < from[b + 1]!; j++) if (column[i] === column[j]) sum += value[i]! * value[j]!;
  return sum;
}
