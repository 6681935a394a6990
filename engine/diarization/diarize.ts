import { levelsOf } from '../loudness.ts';
import { sharedSamples } from '../runtime/buffers.ts';
import type { Recording, Turn } from '../types.ts';
import { EXCERPTS_PER_BATCH, MIN_RELIABLE_SECONDS } from './campplus.ts';
import { clusterSpeakers } from './clustering.ts';
import { cutExcerpts, type Excerpt, sampleRange, secondsOf } from './excerpts.ts';
import { cutOffInterjections } from './interjections.ts';
import { assignSpeakers } from './label.ts';
import type { Linker } from './linkage.ts';
import { pairsInWindows } from './pairs.ts';
import { splitAtChanges } from './resegment.ts';
import type { Activity } from './segmentation.ts';
import { snapToSound } from './snap-turns.ts';
import { similarityThreshold } from './threshold.ts';
import { joinTracks } from './tracks.ts';
import { renumbered, toTurns } from './turns.ts';
import { cutAgain, separateUndecided } from './undecided.ts';

/** Computes speaker embeddings of excerpts of equal length on some thread. */
export type Embedder = (excerpts: Float32Array[]) => Promise<Float32Array[]>;

export interface DiarizeOptions {
  /** Known number of speakers, or null. */
  speakers: number | null;
  signal?: AbortSignal;
  /** Called with the fraction of embeddings done, 0 to 1. */
  onProgress?: (fraction: number) => void;
  /** Where embeddings are linked; default: on this thread. */
  linker?: Linker;
  /** Concurrent batches; at least the number of threads. */
  concurrency?: number;
}

/**
 * Speaker turns: each span of one speaker is embedded once, the embeddings are clustered, undecided spans separated, doubtful ones divided,
 * interjections cut off, and each span assigned to the nearest speaker.
 */
export async function diarize(
  activity: Activity,
  recording: Recording,
  channel: number | 'mix',
  embedder: Embedder,
  options: DiarizeOptions,
): Promise<Turn[]> {
  const joined = joinTracks(activity);
  const excerpts = cutExcerpts(joined);
  if (!excerpts.length) return [];
  const embeddings = await embedAll(excerpts, recording, channel, embedder, options);
  const { speakers, signal, linker } = options;
  const chosen = reliable(excerpts, speakers);
  const [own, vectors] = [chosen.map((i) => excerpts[i]!), chosen.map((i) => embeddings[i]!)];
  const pairs = pairsInWindows(own, joined.tracks);
  const threshold = similarityThreshold(vectors, pairs);
  const centroids = await clusterSpeakers(vectors, own.map(secondsOf), { threshold, speakers, pairs, signal, linker });
  const embed = (subwindows: Excerpt[]) => embedAll(subwindows, recording, channel, embedder, { ...options, onProgress: undefined });
  const levels = await levelsOf(recording, channel, signal);
  const tracks = separateUndecided(joined);
  const again = await cutAgain(tracks, excerpts, embeddings, embed);
  const split = await splitAtChanges(...again, centroids, embed);
  const [parts, embeddingsOfParts] = await cutOffInterjections(...split, centroids, { threshold, tracks: tracks.tracks, levels, embed });
  const turns = toTurns(tracks, parts, assignSpeakers(parts, tracks.tracks, embeddingsOfParts, centroids), centroids.length);
  return renumbered(snapToSound(turns, levels, tracks.speakerCounts));
}

/** Speaker embeddings of all excerpts; those of equal length are batched. */
async function embedAll(
  excerpts: Excerpt[],
  recording: Recording,
  channel: number | 'mix',
  embedder: Embedder,
  { signal, onProgress, concurrency = 4 }: DiarizeOptions,
): Promise<Float32Array[]> {
  const embeddings: Float32Array[] = new Array(excerpts.length);
  const batches = inBatches(excerpts);
  const most = excerpts.reduce((samples, excerpt) => Math.max(samples, sampleRange(excerpt).samples), 0);
  let next = 0;
  let done = 0;
  const lane = async () => {
    const room = sharedSamples(EXCERPTS_PER_BATCH * most);
    for (let batch = batches[next++]; batch; batch = batches[next++]) {
      signal?.throwIfAborted();
      const sounds = await Promise.all(batch.map((i, n) => readExcerpt(recording, channel, excerpts[i]!, room.subarray(n * most))));
      for (const [n, embedding] of (await embedder(sounds)).entries()) embeddings[batch[n]!] = embedding;
      onProgress?.((done += batch.length) / excerpts.length);
    }
  };
  await Promise.all(Array.from({ length: concurrency }, lane));
  return embeddings;
}

function inBatches(excerpts: Excerpt[]): number[][] {
  const bySize = new Map<number, number[]>();
  for (const [i, excerpt] of excerpts.entries()) {
    const { samples } = sampleRange(excerpt);
    const same = bySize.get(samples);
    if (same) same.push(i);
    else bySize.set(samples, [i]);
  }
  return [...bySize.values()].flatMap((same) =>
    Array.from({ length: Math.ceil(same.length / EXCERPTS_PER_BATCH) }, (_, b) =>
      same.slice(b * EXCERPTS_PER_BATCH, (b + 1) * EXCERPTS_PER_BATCH),
    ),
  );
}

/** Samples of an excerpt, padded with silence past the end of the recording. */
async function readExcerpt(recording: Recording, channel: number | 'mix', excerpt: Excerpt, room: Float32Array): Promise<Float32Array> {
  const { start, samples } = sampleRange(excerpt);
  const { length } = await recording.read(channel, start, start + samples, room);
  return room.subarray(0, samples).fill(0, length);
}

/** Indices of the excerpts that may form a speaker: all that are long enough, or the longest if those are too few. */
function reliable(excerpts: readonly Excerpt[], speakers: number | null): number[] {
  const seconds = excerpts.map(secondsOf);
  const all = excerpts.map((_, i) => i);
  const single = all.filter((i) => !excerpts[i]!.overlapped);
  const usable = single.length < (speakers ?? 1) ? all : single;
  const least = Math.min(MIN_RELIABLE_SECONDS, Math.max(...usable.map((i) => seconds[i]!)));
  const long = usable.filter((i) => seconds[i]! >= least);
  return speakers && long.length < speakers ? usable.toSorted((a, b) => seconds[b]! - seconds[a]!).slice(0, speakers) : long;
}
