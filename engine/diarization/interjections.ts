import { INTERJECTION_MARGIN } from './campplus.ts';
import type { Excerpt } from './excerpts.ts';
import { best, dot } from './label.ts';
import { frameAt, startOf } from './pyannote.ts';
import type { Embed } from './resegment.ts';
import type { Track } from './tracks.ts';

/* Frames are those of the segmentation, 17 ms; steps are those of levels, 10 ms. */

const MIN_STEPS = 25; // length of what may be cut off, …
const MAX_STEPS = 110; // … which is at most half of the excerpt
const MIN_DIP = 10; // dB from the quietest place up to the loudest on each of its sides
const SMOOTHED_STEPS = 2; // to each side of a step
const DOUBT_PROBABILITY = 0.9; // which the model does not exceed somewhere …
const DOUBT_FRAMES = 8; // … within this distance of the dip
const ADJACENT_FRAMES = 1; // excerpts of one track at most this far apart are parts of one run of speech

interface Context {
  /** Similarity from which on two embeddings count as one speaker. */
  threshold: number;
  tracks: Track[];
  /** Of `levelsOf`. */
  levels: Float32Array;
  embed: Embed;
}

interface Part {
  excerpt: Excerpt;
  embedding: Float32Array;
}

/**
 * The segmentation model often takes a short interjection right before or after another's speech for that speaker's. Cuts off the beginning or
 * end of excerpts, at a dip in level where the model is in doubt, if it is clearly more similar to another speaker.
 * @param excerpts ordered by track, then time, as are those returned
 * @param embeddings unit vectors of the excerpts
 * @param centroids unit vectors of the speakers
 */
export async function cutOffInterjections(
  excerpts: Excerpt[],
  embeddings: Float32Array[],
  centroids: Float32Array[],
  { threshold, tracks, levels, embed }: Context,
): Promise<[Excerpt[], Float32Array[]]> {
  if (centroids.length < 2) return [excerpts, embeddings];
  const similarity = (embedding: Float32Array) => centroids.map((speaker) => dot(embedding, speaker));
  const ends = excerpts.map((excerpt, i) => endsOf(excerpt, [excerpts[i - 1], excerpts[i + 1]], tracks[excerpt.track]!, levels));
  const heard = await embed(ends.flat());
  let next = 0;
  const parts = excerpts.flatMap((excerpt, i) => {
    const whole = { excerpt, embedding: embeddings[i]! };
    const speaker = best(similarity(whole.embedding));
    const others = ends[i]!.map((end) => ({ excerpt: end, embedding: heard[next++]! })).filter(({ embedding }) => {
      const all = similarity(embedding);
      const most = Math.max(...all);
      return most >= threshold && most - all[speaker]! >= INTERJECTION_MARGIN;
    });
    return without(whole, others);
  });
  return [parts.map(({ excerpt }) => excerpt), parts.map(({ embedding }) => embedding)];
}

/** The beginning and the end of an excerpt that a dip separates from the rest, where the run of speech begins and ends with it. */
function endsOf(excerpt: Excerpt, [before, after]: (Excerpt | undefined)[], track: Track, levels: Float32Array): Excerpt[] {
  if (excerpt.overlapped) return [];
  const [from, to] = [startOf(excerpt.first), startOf(excerpt.end)].map((seconds) => Math.round(seconds * 100)) as [number, number];
  const smooth = smoothed(levels, from, to);
  const most = Math.min(MAX_STEPS, Math.floor(smooth.length / 2));
  const dipBetween = (first: number, end: number): number[] => {
    const step = deepest(smooth, first, end);
    const frame = frameAt((from + step) / 100);
    return step >= 0 && inDoubt(track, frame) ? [frame] : [];
  };
  const continues = (other: Excerpt | undefined, gap: number) => other?.track === excerpt.track && gap <= ADJACENT_FRAMES;
  const begins = continues(before, excerpt.first - (before?.end ?? 0)) ? [] : dipBetween(MIN_STEPS, most);
  const ends = continues(after, (after?.first ?? 0) - excerpt.end) ? [] : dipBetween(smooth.length - most, smooth.length - MIN_STEPS);
  return [...begins.map((end) => ({ ...excerpt, end })), ...ends.map((first) => ({ ...excerpt, first }))];
}

/** Levels in steps [from, to), each the mean of those around it. */
function smoothed(levels: Float32Array, from: number, to: number): Float32Array {
  return Float32Array.from({ length: Math.max(0, to - from) }, (_, i) => {
    const around = levels.subarray(Math.max(0, from + i - SMOOTHED_STEPS), from + i + SMOOTHED_STEPS + 1);
    return around.reduce((sum, level) => sum + level, 0) / around.length;
  });
}

/** The quietest step of [first, end) if it is a dip, otherwise -1. */
function deepest(levels: Float32Array, first: number, end: number): number {
  let step = -1;
  for (let i = first; i < end; i++) if (step < 0 || levels[i]! < levels[step]!) step = i;
  if (step < 0) return step;
  const lower = Math.min(Math.max(...levels.subarray(0, step + 1)), Math.max(...levels.subarray(step)));
  return lower - levels[step]! >= MIN_DIP ? step : -1;
}

function inDoubt({ first, probability }: Track, frame: number): boolean {
  const around = probability.subarray(Math.max(0, frame - DOUBT_FRAMES - first), frame + DOUBT_FRAMES + 1 - first);
  return around.some((p) => p <= DOUBT_PROBABILITY);
}

/** A part without its beginning or end, which follow and precede it as parts of their own. */
function without(whole: Part, ends: Part[]): Part[] {
  const before = ends.filter(({ excerpt }) => excerpt.first === whole.excerpt.first);
  const after = ends.filter(({ excerpt }) => excerpt.end === whole.excerpt.end);
  const first = before[0]?.excerpt.end ?? whole.excerpt.first;
  const end = after[0]?.excerpt.first ?? whole.excerpt.end;
  const rest = end > first ? [{ ...whole, excerpt: { ...whole.excerpt, first, end } }] : [];
  return [...before, ...rest, ...after];
}
