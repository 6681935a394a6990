import {
  DEFAULT_THRESHOLD,
  DEFAULT_THRESHOLD_WEIGHT,
  MAX_THRESHOLD,
  MIN_COMPARED_SECONDS,
  MIN_THRESHOLD,
  THRESHOLD_MARGIN,
} from './campplus.ts';
import { type Excerpt, secondsOf } from './excerpts.ts';
import { dot } from './label.ts';
import { FRAMES_PER_WINDOW } from './pyannote.ts';
import type { Track } from './tracks.ts';

const COMPARED_EXCERPTS = 15; // following excerpts to compare with

/**
 * The cosine from which on two embeddings count as one speaker, for this recording: in a narrow band all voices are similar. Two local
 * speakers that the segmentation model separates within one window are different people, and show how similar different people are here.
 */
export function similarityThreshold(excerpts: Excerpt[], embeddings: Float32Array[], tracks: Track[]): number {
  const others = differentSpeakers(excerpts, tracks).map(([a, b]) => dot(embeddings[a]!, embeddings[b]!));
  if (!others.length) return DEFAULT_THRESHOLD;
  const median = others.toSorted((a, b) => a - b)[Math.floor(others.length / 2)]!;
  const weight = others.length / (others.length + DEFAULT_THRESHOLD_WEIGHT);
  return Math.min(MAX_THRESHOLD, Math.max(MIN_THRESHOLD, DEFAULT_THRESHOLD + weight * (median + THRESHOLD_MARGIN - DEFAULT_THRESHOLD)));
}

/** Pairs of excerpts that one window assigned to two local speakers. */
function differentSpeakers(excerpts: Excerpt[], tracks: Track[]): [number, number][] {
  const long = excerpts.map((_, i) => i).filter((i) => !excerpts[i]!.overlapped && secondsOf(excerpts[i]!) >= MIN_COMPARED_SECONDS);
  const order = long.toSorted((a, b) => excerpts[a]!.first - excerpts[b]!.first);
  const pairs: [number, number][] = [];
  for (const [n, i] of order.entries()) {
    for (const j of order.slice(n + 1, n + 1 + COMPARED_EXCERPTS)) {
      const [a, b] = [excerpts[i]!, excerpts[j]!];
      if (a.track !== b.track && b.end - a.first <= FRAMES_PER_WINDOW && seenTogether(tracks[a.track]!, tracks[b.track]!, b.first))
        pairs.push([i, j]);
    }
  }
  return pairs;
}

/** Whether one window contains both tracks, and the later excerpt begins where both are known. */
function seenTogether(a: Track, b: Track, from: number): boolean {
  const first = Math.max(a.first, b.first);
  const end = Math.min(a.first + a.probability.length, b.first + b.probability.length);
  return end - first >= FRAMES_PER_WINDOW && from >= first;
}
