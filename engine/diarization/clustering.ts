import { setImmediate as pause } from 'node:timers/promises';
import {
  BLOCK_THRESHOLD_STEP,
  BONUS_END,
  EMBEDDING_SIZE,
  FIRST_BLOCK_THRESHOLD,
  MIN_SPEAKER_SECONDS,
  MIN_SPEAKER_SHARE,
  SEPARATED_PAIRS,
  SMALL_CLUSTER_BONUS,
  SMALL_CLUSTER_SECONDS,
  SMALL_CLUSTER_SHARE,
} from './campplus.ts';
import { unit } from './embedding.ts';
import { dot } from './label.ts';
import { type LinkageOptions, type Linker, link, type Rows } from './linkage.ts';
import type { Pair } from './pairs.ts';

const BLOCK_VECTORS = 1200; // maximum vectors per similarity matrix: about an hour of conversation
const MAX_CLUSTERED = 1800; // clusters from which speakers are formed, the largest: outliers form no speaker, they only join one
const MAX_SPEAKERS = 100; // maximum speakers: the largest

export interface ClusterOptions {
  /** Mean cosine from which on two clusters are one speaker. */
  threshold: number;
  /** Number of speakers, or null if it is not known. */
  speakers: number | null;
  /** Pairs of embeddings whose excerpts one window contains. */
  pairs?: readonly Pair[];
  /** Checked between blocks: each takes up to a second. */
  signal?: AbortSignal;
  /** Where the blocks are linked; default: here, yielding in between. */
  linker?: Linker;
}

/**
 * Clusters speaker embeddings into speakers; returns a unit vector for each.
 * @param embeddings unit vectors [192]
 * @param seconds of speech behind each
 */
export async function clusterSpeakers(
  embeddings: Float32Array[],
  seconds: number[],
  { threshold, speakers, pairs = [], signal, linker = linkHere }: ClusterOptions,
): Promise<Float32Array[]> {
  const all = rows(embeddings);
  let means = all;
  let weights: Float64Array = Float64Array.from(seconds);
  let group = Int32Array.from(embeddings, (_, i) => i);
  for (let stop = FIRST_BLOCK_THRESHOLD; means.count > BLOCK_VECTORS && stop > threshold; stop -= BLOCK_THRESHOLD_STEP) {
    const part = await linkBlocks(means, weights, stop, linker, signal);
    ({ means, weights } = gather(means, weights, part));
    group = group.map((g) => part[g]!);
  }
  const spoken = seconds.reduce((sum, s) => sum + s, 0);
  const minSeconds = Math.min(MIN_SPEAKER_SECONDS, MIN_SPEAKER_SHARE * spoken);
  const labels = await linkLargest(means, weights, { stop: threshold, speakers: speakers ?? undefined, minWeight: minSeconds }, linker);
  const clusterOf = group.map((g) => labels[g]!);
  const clusters = gather(all, Float64Array.from(seconds), clusterOf);
  keepLargest(clusters.weights);
  if (!speakers) mergeSmall(clusters, threshold, minSeconds, { clusterOf, pairs });
  return centroids(clusters, minSeconds, speakers);
}

async function linkHere(means: Rows, weights: Float64Array, options: LinkageOptions): Promise<Int32Array> {
  await pause();
  return link(means, weights, options);
}

/** Links the largest clusters; the others get the label -1. */
async function linkLargest(means: Rows, weights: Float64Array, options: LinkageOptions, linker: Linker): Promise<Int32Array> {
  if (means.count <= MAX_CLUSTERED) return linker(means, weights, options);
  const largest = Int32Array.from(weights.keys())
    .sort((a, b) => weights[b]! - weights[a]! || a - b)
    .subarray(0, MAX_CLUSTERED)
    .sort();
  const data = new Float32Array(MAX_CLUSTERED * means.width);
  for (const [i, row] of largest.entries()) data.set(means.data.subarray(row * means.width, (row + 1) * means.width), i * means.width);
  const linked = await linker(
    { count: MAX_CLUSTERED, width: means.width, data },
    Float64Array.from(largest, (row) => weights[row]!),
    options,
  );
  const labels = new Int32Array(means.count).fill(-1);
  for (const [i, row] of largest.entries()) labels[row] = linked[i]!;
  return labels;
}

/** Merges the most similar pairs within equal blocks of neighbours: as exact as one matrix, but small. */
async function linkBlocks(means: Rows, weights: Float64Array, stop: number, linker: Linker, signal?: AbortSignal): Promise<Int32Array> {
  const part = new Int32Array(means.count);
  const blocks = Math.ceil(means.count / BLOCK_VECTORS);
  let base = 0;
  for (let block = 0; block < blocks; block++) {
    signal?.throwIfAborted();
    const [from, to] = [Math.floor((block * means.count) / blocks), Math.floor(((block + 1) * means.count) / blocks)];
    const data = means.data.slice(from * means.width, to * means.width);
    const labels = await linker({ count: to - from, width: means.width, data }, weights.slice(from, to), { stop });
    for (const [i, label] of labels.entries()) part[from + i] = base + label;
    base += Math.max(...labels) + 1;
  }
  return part;
}

/** The weighted mean of the members of each cluster; those of cluster -1 are left out. */
function gather(means: Rows, weights: Float64Array, part: Int32Array): Clusters {
  const { width } = means;
  const count = Math.max(...part) + 1;
  const sums = new Float64Array(count * width);
  const total = new Float64Array(count);
  for (const [row, cluster] of part.entries()) {
    if (cluster < 0) continue;
    total[cluster]! += weights[row]!;
    for (let k = 0; k < width; k++) sums[cluster * width + k]! += means.data[row * width + k]! * weights[row]!;
  }
  const data = new Float32Array(sums.length);
  for (let i = 0; i < data.length; i++) data[i] = sums[i]! / total[Math.floor(i / width)]!;
  return { means: { count, width, data }, weights: total };
}

interface Clusters {
  /** Mean unit vectors. */
  means: Rows;
  /** Seconds of speech; 0 for a cluster that was merged into another. */
  weights: Float64Array;
}

/** Removes all but the largest clusters. */
function keepLargest(weights: Float64Array): void {
  const least = weights.toSorted().at(-MAX_SPEAKERS) ?? 0;
  for (let c = 0; c < weights.length; c++) if (weights[c]! < least) weights[c] = 0;
}

/** Clusters of embeddings, and how the segmentation model pairs these. */
interface Seen {
  clusterOf: Int32Array;
  pairs: readonly Pair[];
}

/** Pairs with an excerpt in each of two clusters: the number that the segmentation model separated, less those that it joined. */
function separations(pairs: readonly Pair[], clusterOf: Int32Array, cluster: number, other: number): number {
  let sum = 0;
  for (const { a, b, joined } of pairs) {
    const [x, y] = [clusterOf[a]!, clusterOf[b]!];
    if ((x === cluster && y === other) || (x === other && y === cluster)) sum += joined ? -1 : 1;
  }
  return sum;
}

/**
 * Merges small speakers into the most similar one, the clearest cases first, unless the segmentation model separates the two. Those too small
 * to be a speaker are not merged.
 */
function mergeSmall({ means, weights }: Clusters, threshold: number, minSeconds: number, { clusterOf, pairs }: Seen): void {
  const small = Math.min(SMALL_CLUSTER_SECONDS, SMALL_CLUSTER_SHARE * weights.reduce((sum, weight) => sum + weight, 0));
  const bonus = (c: number) => SMALL_CLUSTER_BONUS * Math.min(1, (BONUS_END - weights[c]! / small) / (BONUS_END - 1));
  const mean = (c: number) => means.data.subarray(c * means.width, (c + 1) * means.width);
  for (;;) {
    let best = { cosine: threshold, into: -1, from: -1 };
    const candidates = [...weights.keys()].filter((c) => weights[c]! >= minSeconds);
    for (const from of candidates.filter((c) => weights[c]! <= BONUS_END * small)) {
      for (const into of candidates) {
        const cosine = into === from ? 0 : dot(mean(from), mean(into)) + bonus(from);
        if (cosine > best.cosine && separations(pairs, clusterOf, from, into) < SEPARATED_PAIRS) best = { cosine, into, from };
      }
    }
    const { into, from } = best;
    if (into < 0) return;
    const total = weights[into]! + weights[from]!;
    const [a, b] = [mean(into), mean(from)];
    for (let k = 0; k < a.length; k++) a[k] = (a[k]! * weights[into]! + b[k]! * weights[from]!) / total;
    weights[into] = total;
    weights[from] = 0;
    for (let i = 0; i < clusterOf.length; i++) if (clusterOf[i] === from) clusterOf[i] = into;
  }
}

/** One unit vector per cluster with enough speech; with `speakers`, for the largest ones. */
function centroids({ means, weights }: Clusters, minSeconds: number, speakers: number | null): Float32Array[] {
  const least = Math.min(minSeconds, Math.max(...weights));
  const bySize = [...weights.keys()].toSorted((a, b) => weights[b]! - weights[a]!);
  const kept = speakers ? bySize.slice(0, speakers) : bySize.filter((c) => weights[c]! >= least);
  return kept.map((c) => unit(means.data.slice(c * means.width, (c + 1) * means.width)));
}

function rows(vectors: Float32Array[]): Rows {
  const data = new Float32Array(vectors.length * EMBEDDING_SIZE);
  for (const [i, vector] of vectors.entries()) data.set(vector, i * EMBEDDING_SIZE);
  return { count: vectors.length, width: EMBEDDING_SIZE, data };
}
