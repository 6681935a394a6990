import { sharedSamples } from '../runtime/buffers.ts';
import type { Recording, Turn } from '../types.ts';
import { findVoices } from './clustering.ts';
import { CERTAIN, cutPieces, extent, lasting, type Piece } from './excerpts.ts';
import { assign } from './label.ts';
import type { Linker } from './linkage.ts';
import { divide } from './resegment.ts';
import type { Activity } from './segmentation.ts';
import { loudness, toSound } from './snap-turns.ts';
import { likenessOf } from './threshold.ts';
import { joinTracks } from './tracks.ts';
import { renumbered, toTurns } from './turns.ts';

/** Computes speaker embeddings of pieces of equal length on some thread. */
export type Embedder = (pieces: Float32Array[]) => Promise<Float32Array[]>;

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

const BATCH = 2; // pieces per call: with more, activations leave the processor's cache

/**
 * Speaker turns: each span of one voice is embedded once, the embeddings are clustered, doubtful spans divided, and each span assigned to
 * the nearest speaker.
 */
export async function diarize(
  activity: Activity,
  recording: Recording,
  channel: number | 'mix',
  embedder: Embedder,
  options: DiarizeOptions,
): Promise<Turn[]> {
  const tracks = joinTracks(activity);
  const pieces = cutPieces(tracks);
  if (!pieces.length) return [];
  const prints = await embedAll(pieces, recording, channel, embedder, options);
  const likeness = likenessOf(pieces, prints, tracks.tracks);
  const { speakers, signal, linker } = options;
  const voices = await findVoices(...certain(pieces, prints, speakers), likeness, speakers, signal, linker);
  const print = (looks: Piece[]) => embedAll(looks, recording, channel, embedder, { ...options, onProgress: undefined });
  const [parts, own] = await divide(pieces, prints, voices, print);
  const turns = toTurns(tracks, parts, assign(parts, tracks.tracks, own, voices), voices.length);
  return renumbered(toSound(turns, await loudness(recording, channel, signal), tracks.heads));
}

/** Speaker embeddings of all pieces; those of equal length are batched. */
async function embedAll(
  pieces: Piece[],
  recording: Recording,
  channel: number | 'mix',
  embedder: Embedder,
  { signal, onProgress, concurrency = 4 }: DiarizeOptions,
): Promise<Float32Array[]> {
  const prints: Float32Array[] = new Array(pieces.length);
  const batches = inBatches(pieces);
  const most = pieces.reduce((samples, piece) => Math.max(samples, extent(piece).samples), 0);
  let next = 0;
  let done = 0;
  const lane = async () => {
    const room = sharedSamples(BATCH * most);
    for (let batch = batches[next++]; batch; batch = batches[next++]) {
      signal?.throwIfAborted();
      const sounds = await Promise.all(batch.map((i, n) => readPiece(recording, channel, pieces[i]!, room.subarray(n * most))));
      for (const [n, print] of (await embedder(sounds)).entries()) prints[batch[n]!] = print;
      onProgress?.((done += batch.length) / pieces.length);
    }
  };
  await Promise.all(Array.from({ length: concurrency }, lane));
  return prints;
}

function inBatches(pieces: Piece[]): number[][] {
  const bySize = new Map<number, number[]>();
  for (const [i, piece] of pieces.entries()) {
    const { samples } = extent(piece);
    const same = bySize.get(samples);
    if (same) same.push(i);
    else bySize.set(samples, [i]);
  }
  return [...bySize.values()].flatMap((same) =>
    Array.from({ length: Math.ceil(same.length / BATCH) }, (_, b) => same.slice(b * BATCH, (b + 1) * BATCH)),
  );
}

/** Samples of a piece, padded with silence past the end of the recording. */
async function readPiece(recording: Recording, channel: number | 'mix', piece: Piece, room: Float32Array): Promise<Float32Array> {
  const { start, samples } = extent(piece);
  const { length } = await recording.read(channel, start, start + samples, room);
  return room.subarray(0, samples).fill(0, length);
}

/** The embeddings that may form a speaker, and their seconds: all that are long enough, or the longest if those are too few. */
function certain(pieces: Piece[], prints: Float32Array[], speakers: number | null): [Float32Array[], number[]] {
  const seconds = pieces.map(lasting);
  const long = Math.min(CERTAIN, Math.max(...seconds));
  let chosen = seconds.map((_, i) => i).filter((i) => seconds[i]! >= long);
  if (speakers && chosen.length < speakers)
    chosen = seconds
      .map((_, i) => i)
      .toSorted((a, b) => seconds[b]! - seconds[a]!)
      .slice(0, speakers);
  return [chosen.map((i) => prints[i]!), chosen.map((i) => seconds[i]!)];
}
