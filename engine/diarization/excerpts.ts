import {
  BUCKET_ROWS,
  LAST_ROW_SAMPLES,
  MAX_EXCERPT_SECONDS,
  MIN_EXCERPT_FRAMES,
  MIN_ROWS,
  ROW_SAMPLES,
  SHORT_EXCERPT_FRAMES,
  SHORT_EXCERPT_ROWS,
} from './campplus.ts';
import { ACTIVE_PROBABILITY, FIELD_SAMPLES, FRAME_SECONDS, HOP_SAMPLES } from './pyannote.ts';
import type { Tracks } from './tracks.ts';

/** A span of one track that is embedded once. Frames of the recording; `end` is exclusive. */
export interface Excerpt {
  track: number;
  first: number;
  end: number;
  /** True if others are active throughout: such an excerpt is assigned to a speaker, but says little about any. */
  overlapped?: boolean;
}

const MAX_EXCERPT_FRAMES = Math.round(MAX_EXCERPT_SECONDS / FRAME_SECONDS);
const MIN_OVERLAPPED_FRAMES = 12; // shorter overlaps are assigned with the speech around them
const MAX_GAP_FRAMES = 5; // frames from one active frame to the next within an excerpt: no pause over 0.1 s

/**
 * All excerpts in which one speaker is alone, and the runs of speech in which they never are, such as interjections; for a speaker who is never
 * alone, all of their speech. Ordered by track, then time.
 */
export function cutExcerpts({ tracks, speakerCounts }: Tracks): Excerpt[] {
  return tracks.flatMap(({ first, probability }, track) => {
    const active: number[] = [];
    for (const [i, p] of probability.entries()) if (p > ACTIVE_PROBABILITY) active.push(first + i);
    if (active.length < MIN_EXCERPT_FRAMES) return [];
    const aloneIn = (frames: number[]) => frames.filter((frame) => speakerCounts[frame]! - probability[frame - first]! < 0.5);
    if (aloneIn(active).length < MIN_EXCERPT_FRAMES) return stretches(active).map((stretch) => ({ track, ...stretch }));
    return runs(active).flatMap((run) => {
      const alone = aloneIn(run);
      const overlapped = alone.length < MIN_EXCERPT_FRAMES && run.length - alone.length >= MIN_OVERLAPPED_FRAMES;
      if (overlapped) return stretches(run).map((stretch): Excerpt => ({ track, ...stretch, overlapped }));
      return stretches(alone).map((stretch): Excerpt => ({ track, ...stretch }));
    });
  });
}

/** Frames in order, split at pauses. */
function runs(frames: number[]): number[][] {
  const found: number[][] = [];
  let begin = 0;
  for (let i = 1; i <= frames.length; i++) {
    if (i < frames.length && frames[i]! - frames[i - 1]! <= MAX_GAP_FRAMES) continue;
    found.push(frames.slice(begin, i));
    begin = i;
  }
  return found;
}

/** Frames in order, split at pauses and into equal parts below the maximum length. */
function stretches(frames: number[]): { first: number; end: number }[] {
  return runs(frames).flatMap((run) => {
    const parts = Math.ceil(run.length / MAX_EXCERPT_FRAMES);
    return Array.from({ length: parts }, (_, part) => {
      const before = (n: number) => n * Math.floor(run.length / parts) + Math.min(n, run.length % parts); // frames of the first n parts
      return { first: run[before(part)]!, end: run[before(part + 1) - 1]! + 1 };
    });
  });
}

/** First sample and number of samples of an excerpt, rounded down to limit the number of shapes. */
export function sampleRange({ first, end }: Excerpt): { start: number; samples: number } {
  const start = Math.max(0, Math.floor((first - 0.5) * HOP_SAMPLES + FIELD_SAMPLES / 2));
  const reverberation = end - first < SHORT_EXCERPT_FRAMES ? SHORT_EXCERPT_ROWS : 0;
  const rows = Math.max(MIN_ROWS, Math.floor(((end - first) * HOP_SAMPLES) / ROW_SAMPLES) + reverberation);
  return { start, samples: (rows > BUCKET_ROWS ? rows - (rows % BUCKET_ROWS) : rows) * ROW_SAMPLES + LAST_ROW_SAMPLES };
}

/** Duration of an excerpt, seconds. */
export function secondsOf({ first, end }: Excerpt): number {
  return (end - first) * FRAME_SECONDS;
}
