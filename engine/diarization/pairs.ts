import { type Excerpt, secondsOf } from './excerpts.ts';
import { FRAMES_PER_WINDOW } from './pyannote.ts';
import type { Track } from './tracks.ts';

const COMPARED_EXCERPTS = 15; // following excerpts to compare with

/** Two excerpts that one window of the segmentation model contains. */
export interface Pair {
  /** Indices of the excerpts. */
  a: number;
  b: number;
  /** Duration of the shorter one. */
  seconds: number;
  /** Whether the model assigned both to one local speaker, or to two: then they are different people, if it is right. */
  joined: boolean;
}

/** All pairs of excerpts that one window contains. */
export function pairsInWindows(excerpts: readonly Excerpt[], tracks: readonly Track[]): Pair[] {
  const order = excerpts.map((_, i) => i).toSorted((i, j) => excerpts[i]!.first - excerpts[j]!.first);
  return order.flatMap((a, n) =>
    order.slice(n + 1, n + 1 + COMPARED_EXCERPTS).flatMap((b) => {
      const [earlier, later] = [excerpts[a]!, excerpts[b]!];
      const joined = earlier.track === later.track;
      const together = joined || seenTogether(tracks[earlier.track]!, tracks[later.track]!, later.first);
      if (!together || later.end - earlier.first > FRAMES_PER_WINDOW) return [];
      return [{ a, b, seconds: Math.min(secondsOf(earlier), secondsOf(later)), joined }];
    }),
  );
}

/** Whether one window contains both tracks, and the later excerpt begins where both are known. */
function seenTogether(a: Track, b: Track, from: number): boolean {
  const first = Math.max(a.first, b.first);
  const end = Math.min(a.first + a.probability.length, b.first + b.probability.length);
  return end - first >= FRAMES_PER_WINDOW && from >= first;
}
