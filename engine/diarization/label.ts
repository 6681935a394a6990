import { CONTEXT_SECONDS, CONTEXT_WEIGHT } from './campplus.ts';
import { type Excerpt, secondsOf } from './excerpts.ts';
import { ACTIVE_PROBABILITY } from './pyannote.ts';
import type { Track } from './tracks.ts';

const MAX_GAP_FRAMES = 30; // excerpts further apart do not overlap
const SEARCH_FRAMES = 18; // frames around the common span that are searched for overlap
const MIN_OVERLAP_FRAMES = 6; // frames with both active from which on they are two people
const COMPARED_EXCERPTS = 12; // following excerpts to compare with
const CONTEXT_FRAMES = 240; // frames within which another excerpt counts as nearby

/**
 * The speaker of each excerpt: the nearest one, except that two tracks active at once are two people, and the weaker match gets its second
 * choice.
 * @param embeddings unit vectors of the excerpts
 * @param centroids unit vectors of the speakers
 */
export function assignSpeakers(excerpts: Excerpt[], tracks: Track[], embeddings: Float32Array[], centroids: Float32Array[]): Int32Array {
  const scores = embeddings.map((embedding) => Float32Array.from(centroids, (speaker) => dot(embedding, speaker)));
  const labels = Int32Array.from(scores, best);
  if (centroids.length < 2) return labels;
  const order = excerpts.map((_, i) => i).sort((a, b) => excerpts[a]!.first - excerpts[b]!.first);
  weighContext(excerpts, tracks, order, scores, labels);
  const confidence = (i: number) => secondsOf(excerpts[i]!) * scores[i]![labels[i]!]!;
  for (const [n, i] of order.entries()) {
    for (const j of order.slice(n + 1, n + COMPARED_EXCERPTS)) {
      if (excerpts[j]!.first >= excerpts[i]!.end + MAX_GAP_FRAMES) break;
      if (excerpts[i]!.track === excerpts[j]!.track || labels[i] !== labels[j] || !overlap(excerpts[i]!, excerpts[j]!, tracks)) continue;
      const weaker = confidence(i) <= confidence(j) ? i : j;
      scores[weaker]![labels[weaker]!] = -9;
      labels[weaker] = best(scores[weaker]!);
    }
  }
  return labels;
}

/**
 * Short excerpts, whose embeddings are weak: the model separated several people in one window, so the speaker of another track right beside
 * such an excerpt becomes less likely, and the speaker of its own track more likely.
 */
function weighContext(excerpts: Excerpt[], tracks: Track[], order: number[], scores: Float32Array[], labels: Int32Array): void {
  for (const [n, i] of order.entries()) {
    const weight = CONTEXT_WEIGHT * (1 - secondsOf(excerpts[i]!) / CONTEXT_SECONDS);
    if (weight <= 0) continue;
    const [same, others] = [new Set<number>(), new Set<number>()];
    for (const j of [...order.slice(Math.max(0, n - COMPARED_EXCERPTS), n), ...order.slice(n + 1, n + COMPARED_EXCERPTS)]) {
      const [excerpt, other] = [excerpts[i]!, excerpts[j]!];
      const gap = Math.max(excerpt.first - other.end, other.first - excerpt.end);
      if (gap > CONTEXT_FRAMES || secondsOf(other) < CONTEXT_SECONDS) continue;
      if (other.track === excerpt.track) same.add(labels[j]!);
      else if (covers(tracks[other.track]!, excerpt) && covers(tracks[excerpt.track]!, other)) others.add(labels[j]!);
    }
    for (const speaker of others) if (!same.has(speaker)) scores[i]![speaker]! -= weight;
    for (const speaker of same) if (!others.has(speaker)) scores[i]![speaker]! += weight;
  }
  for (const i of order) labels[i] = best(scores[i]!);
}

/** Whether a track covers a whole excerpt. */
function covers({ first, probability }: Track, excerpt: Excerpt): boolean {
  return first <= excerpt.first && excerpt.end <= first + probability.length;
}

/** Whether the tracks of two excerpts are both active where the excerpts meet. */
function overlap(a: Excerpt, b: Excerpt, tracks: Track[]): boolean {
  const from = Math.max(a.first, b.first) - SEARCH_FRAMES;
  const to = Math.min(a.end, b.end) + SEARCH_FRAMES;
  const active = ({ first, probability }: Track, frame: number) => (probability[frame - first] ?? 0) > ACTIVE_PROBABILITY;
  let both = 0;
  for (let frame = from; frame < to; frame++) if (active(tracks[a.track]!, frame) && active(tracks[b.track]!, frame)) both++;
  return both >= MIN_OVERLAP_FRAMES;
}

export function dot(a: Float32Array, b: Float32Array): number {
  let sum = 0;
  for (let k = 0; k < a.length; k++) sum += a[k]! * b[k]!;
  return sum;
}

export function best(scores: ArrayLike<number>): number {
  let best = 0;
  for (let k = 1; k < scores.length; k++) if (scores[k]! > scores[best]!) best = k;
  return best;
}
