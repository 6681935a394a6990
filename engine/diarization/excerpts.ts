import { BUCKET_ROWS, LAST_ROW_SAMPLES, MAX_EXCERPT_SECONDS, MIN_EXCERPT_FRAMES, MIN_ROWS, ROW_SAMPLES } from './campplus.ts';
import { ACTIVE_PROBABILITY, FIELD_SAMPLES, FRAME_SECONDS, HOP_SAMPLES } from './pyannote.ts';
import type { Tracks } from './tracks.ts';

/** A span of one track that is embedded once. Frames of the recording; `end` is exclusive. */
export interface Excerpt {
  track: number;
  first: number;
  end: number;
}

const MAX_EXCERPT_FRAMES = Math.round(MAX_EXCERPT_SECONDS / FRAME_SECONDS);
const MAX_GAP_FRAMES = 5; // frames from one active frame to the next within an excerpt: no pause over 0.1 s

/** All excerpts in which one speaker is alone; for a speaker that is never alone, all of their speech. Ordered by track, then time. */
export function cutExcerpts({ tracks, speakerCounts }: Tracks): Excerpt[] {
  return tracks.flatMap(({ first, probability }, track) => {
    const active: number[] = [];
    const alone: number[] = [];
    for (const [i, p] of probability.entries()) {
      if (p <= ACTIVE_PROBABILITY) continue;
      active.push(first + i);
      if (speakerCounts[first + i]! - p < 0.5) alone.push(first + i);
    }
    const frames = alone.length < MIN_EXCERPT_FRAMES ? active : alone;
    return frames.length < MIN_EXCERPT_FRAMES ? [] : stretches(frames).map((stretch) => ({ track, ...stretch }));
  });
}

/** Frames in order, split at pauses and into equal parts below the maximum length. */
function stretches(frames: number[]): { first: number; end: number }[] {
  const found: { first: number; end: number }[] = [];
  let begin = 0;
  for (let i = 1; i <= frames.length; i++) {
    if (i < frames.length && frames[i]! - frames[i - 1]! <= MAX_GAP_FRAMES) continue;
    const parts = Math.ceil((i - begin) / MAX_EXCERPT_FRAMES);
    for (let part = 0, from = begin; part < parts; part++) {
      const size = Math.floor((i - begin) / parts) + (part < (i - begin) % parts ? 1 : 0);
      found.push({ first: frames[from]!, end: frames[from + size - 1]! + 1 });
      from += size;
    }
    begin = i;
  }
  return found;
}

/** First sample and number of samples of an excerpt, rounded down to limit the number of shapes. */
export function sampleRange({ first, end }: Excerpt): { start: number; samples: number } {
  const start = Math.max(0, Math.floor((first - 0.5) * HOP_SAMPLES + FIELD_SAMPLES / 2));
  const rows = Math.max(MIN_ROWS, Math.floor(((end - first) * HOP_SAMPLES) / ROW_SAMPLES));
  return { start, samples: (rows > BUCKET_ROWS ? rows - (rows % BUCKET_ROWS) : rows) * ROW_SAMPLES + LAST_ROW_SAMPLES };
}

/** Duration of an excerpt, seconds. */
export function secondsOf({ first, end }: Excerpt): number {
  return (end - first) * FRAME_SECONDS;
}
