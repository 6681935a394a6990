import { cutExcerpts, type Excerpt } from './excerpts.ts';
import { ACTIVE_PROBABILITY } from './pyannote.ts';
import type { Embed } from './resegment.ts';
import type { Track, Tracks } from './tracks.ts';

/*
 * Interjections in pauses that have a turn of their speaker, of 268 in 30 rooms of the tuning set: 183 without these tracks, 206 with them. A
 * share of 0.55 or 0.65 gave 8 or 4 fewer than 0.6; runs from 12, 25 or 30 frames on gave 3, 4 or 10 fewer than from 16 to 20 on.
 */
const MAX_SHARE = 0.6; // of one track in the number of speakers: below it the model is undecided
const MIN_RUN_FRAMES = 18; // 0.3 s: enough for an embedding
const MIN_UNASSIGNED = 0.5; // share of the run that would be part of no excerpt

/**
 * Where one person speaks, but the model is undecided between its local speakers, as it often is about interjections, no track is active, or
 * none alone. Each such run becomes a track of its own, so that its embedding decides who it is.
 */
export function separateUndecided({ tracks, speakerCounts }: Tracks): Tracks {
  const highest = highestProbability(tracks, speakerCounts.length);
  const runs = undecidedRuns(highest, speakerCounts);
  if (!runs.length) return { tracks, speakerCounts };
  const separate = new Uint8Array(speakerCounts.length);
  for (const [first, end] of runs) separate.fill(1, first, end);
  const rest = tracks.map(({ first, probability }) => ({ first, probability: probability.map((p, i) => (separate[first + i] ? 0 : p)) }));
  const own = runs.map(([first, end]) => ({ first, probability: speakerCounts.slice(first, end).map((count) => Math.min(1, count)) }));
  return { tracks: [...rest, ...own].toSorted((a, b) => a.first - b.first), speakerCounts };
}

/**
 * Excerpts of the separated tracks, and their embeddings. What is mostly part of an earlier excerpt keeps its embedding, so that little is
 * embedded again.
 * @param excerpts of the tracks before they were separated
 * @param embeddings unit vectors of these excerpts
 */
export async function cutAgain(
  tracks: Tracks,
  excerpts: Excerpt[],
  embeddings: Float32Array[],
  embed: Embed,
): Promise<[Excerpt[], Float32Array[]]> {
  const embeddingAt = earlierEmbeddings(excerpts, embeddings, tracks.speakerCounts.length);
  const again = cutExcerpts(tracks);
  const known = again.map(embeddingAt);
  const heard = await embed(again.filter((_, i) => !known[i]));
  let next = 0;
  return [again, known.map((embedding) => embedding ?? heard[next++]!)];
}

/** The embedding of the earlier excerpt that is the same, or that covers more than half of one. */
function earlierEmbeddings(excerpts: Excerpt[], embeddings: Float32Array[], total: number): (excerpt: Excerpt) => Float32Array | undefined {
  const key = ({ first, end }: Excerpt) => `${first} ${end}`;
  const same = new Map(excerpts.map((excerpt, i) => [key(excerpt), embeddings[i]]));
  const at = new Int32Array(total).fill(-1); // index of the excerpt of one speaker, per frame
  for (const [i, { first, end, overlapped }] of excerpts.entries()) if (!overlapped) at.fill(i, first, end);
  return (excerpt) => {
    const i = at[(excerpt.first + excerpt.end) >> 1] ?? -1; // more than half of an excerpt includes its middle
    if (i < 0 || excerpt.overlapped) return same.get(key(excerpt));
    const shared = Math.min(excerpts[i]!.end, excerpt.end) - Math.max(excerpts[i]!.first, excerpt.first);
    return same.get(key(excerpt)) ?? (2 * shared > excerpt.end - excerpt.first ? embeddings[i] : undefined);
  };
}

/** Probability of the most active track, per frame. */
function highestProbability(tracks: Track[], total: number): Float32Array {
  const highest = new Float32Array(total);
  for (const { first, probability } of tracks)
    for (const [i, p] of probability.entries()) if (p > highest[first + i]!) highest[first + i] = p;
  return highest;
}

/** [first frame, end] of the runs in which the model is undecided who speaks. */
function undecidedRuns(highest: Float32Array, speakerCounts: Float32Array): [number, number][] {
  const runs: [number, number][] = [];
  let [frames, unassigned] = [0, 0]; // of the run so far
  for (let frame = 0; frame <= highest.length; frame++) {
    const [most, count] = [highest[frame] ?? 0, speakerCounts[frame] ?? 0];
    if (count > 0.5 && count < 1.5 && most < MAX_SHARE * count) {
      frames++;
      if (most <= ACTIVE_PROBABILITY || count - most >= 0.5) unassigned++;
      continue;
    }
    if (frames >= MIN_RUN_FRAMES && unassigned >= MIN_UNASSIGNED * frames) runs.push([frame - frames, frame]);
    [frames, unassigned] = [0, 0];
  }
  return runs;
}
