import { SIZE, unit } from './embedding.ts';
import { link, type Rows } from './linkage.ts';

const DISTANCE = 0.47; // mean cosine distance above which two clusters are two people
const VOICE = 3; // seconds of speech that make a voice …
const PART = 0.06; // … or this share of all speech, in short recordings
const BLOCK = 1200; // most vectors in one similarity matrix: about an hour of talk
const CAUTIOUS = 0.7; // cosine of the pairs merged first, block by block …
const RELAX = 0.06; // … and how much lower each round

/**
 * The voices among voice prints, as unit vectors.
 * @param prints unit vectors [192]
 * @param seconds of speech behind each
 * @param speakers how many there are, when that is known
 */
export function findVoices(prints: Float32Array[], seconds: number[], speakers: number | null): Float32Array[] {
  let means: Rows = rows(prints);
  let weights: Float64Array = Float64Array.from(seconds);
  let group = Int32Array.from(prints, (_, i) => i);
  for (let stop = CAUTIOUS; means.count > BLOCK && stop > 1 - DISTANCE; stop -= RELAX) {
    const part = linkBlocks(means, weights, stop);
    ({ means, weights } = gather(means, weights, part));
    group = group.map((g) => part[g]!);
  }
  const spoken = seconds.reduce((sum, s) => sum + s, 0);
  const need = Math.min(VOICE, PART * spoken);
  const labels = link(means, weights, { stop: 1 - DISTANCE, speakers: speakers ?? undefined, need });
  return centroids(
    prints,
    seconds,
    group.map((g) => labels[g]!),
    need,
    speakers,
  );
}

/** Merges the sure pairs within equal blocks of neighbours: as exact as one matrix, and small. */
function linkBlocks(means: Rows, weights: Float64Array, stop: number): Int32Array {
  const part = new Int32Array(means.count);
  const blocks = Math.ceil(means.count / BLOCK);
  let base = 0;
  for (let block = 0; block < blocks; block++) {
    const [from, to] = [Math.floor((block * means.count) / blocks), Math.floor(((block + 1) * means.count) / blocks)];
    const data = means.data.subarray(from * means.width, to * means.width);
    const labels = link({ count: to - from, width: means.width, data }, weights.subarray(from, to), { stop });
    for (const [i, label] of labels.entries()) part[from + i] = base + label;
    base += Math.max(...labels) + 1;
  }
  return part;
}

/** The weighted mean of the members of each cluster. */
function gather(means: Rows, weights: Float64Array, part: Int32Array): { means: Rows; weights: Float64Array } {
  const { width } = means;
  const count = Math.max(...part) + 1;
  const sums = new Float64Array(count * width);
  const total = new Float64Array(count);
  for (const [row, cluster] of part.entries()) {
    total[cluster]! += weights[row]!;
    for (let k = 0; k < width; k++) sums[cluster * width + k]! += means.data[row * width + k]! * weights[row]!;
  }
  const data = Float32Array.from(sums, (sum, i) => sum / total[Math.floor(i / width)]!);
  return { means: { count, width, data }, weights: total };
}

/** One unit vector for each cluster with enough speech; with `speakers`, for the largest ones. */
function centroids(prints: Float32Array[], seconds: number[], group: Int32Array, need: number, speakers: number | null): Float32Array[] {
  const sums: { total: number; vector: Float32Array }[] = [];
  for (const [i, cluster] of group.entries()) {
    const sum = (sums[cluster] ??= { total: 0, vector: new Float32Array(SIZE) });
    sum.total += seconds[i]!;
    for (let k = 0; k < SIZE; k++) sum.vector[k]! += prints[i]![k]! * seconds[i]!;
  }
  const largest = Math.max(...sums.map(({ total }) => total));
  const kept = speakers
    ? sums.toSorted((a, b) => b.total - a.total).slice(0, speakers)
    : sums.filter(({ total }) => total >= Math.min(need, largest));
  return kept.map(({ vector }) => unit(vector));
}

function rows(vectors: Float32Array[]): Rows {
  const data = new Float32Array(vectors.length * SIZE);
  for (const [i, vector] of vectors.entries()) data.set(vector, i * SIZE);
  return { count: vectors.length, width: SIZE, data };
}
