import type { Turn } from '../types.ts';
import type { Excerpt } from './excerpts.ts';
import { MIN_VOTES, startOf } from './pyannote.ts';
import type { Track, Tracks } from './tracks.ts';

const MAX_PAUSE_SECONDS = 0.3; // shorter pauses of one speaker are part of the turn
const MIN_TURN_SECONDS = 0.12; // shorter turns are dropped; real interjections last longer
const BLOCK_FRAMES = 4096; // frames for which votes are held at once

/**
 * Speaker turns: in every frame, as many speakers as are active at once, those with the most votes of the tracks. Speakers are numbered by
 * first appearance; turns are ordered by start.
 */
export function toTurns({ tracks, speakerCounts }: Tracks, excerpts: Excerpt[], who: Int32Array, speakers: number): Turn[] {
  const ballots = toBallots(tracks, excerpts, who);
  const open: (number | null)[] = new Array(speakers).fill(null); // start frame of each speaker's open turn
  const turns: Turn[] = [];
  const close = (speaker: number, end: number) => {
    if (open[speaker] !== null) turns.push({ speaker, start: startOf(open[speaker]!), end: startOf(end) });
    open[speaker] = null;
  };
  let waiting = 0; // earlier ballots are over
  for (let from = 0; from < speakerCounts.length; from += BLOCK_FRAMES) {
    const to = Math.min(speakerCounts.length, from + BLOCK_FRAMES);
    while (waiting < ballots.length && ballots[waiting]!.end <= from) waiting++;
    const votes = count(ballots, waiting, from, to, speakers);
    for (let frame = from; frame < to; frame++) {
      const row = votes.subarray((frame - from) * speakers, (frame - from + 1) * speakers);
      const least = leastVotes(row, speakerCounts[frame]!);
      for (let speaker = 0; speaker < speakers; speaker++) {
        if (row[speaker]! >= least) open[speaker] ??= frame;
        else close(speaker, frame);
      }
    }
  }
  for (let speaker = 0; speaker < speakers; speaker++) close(speaker, speakerCounts.length);
  return renumbered(smoothed(turns));
}

/** A track with the speaker of each of its spans. */
interface Ballot extends Track {
  end: number;
  /** Frames, relative to the track's first, at which the next speaker takes over. */
  until: number[];
  who: number[];
}

/** One per track with excerpts, ordered by first frame. */
function toBallots(tracks: Track[], excerpts: Excerpt[], who: Int32Array): Ballot[] {
  const ballots: Ballot[] = [];
  for (let i = 0; i < excerpts.length; i++) {
    const { track: t, first } = excerpts[i]!;
    const track = tracks[t]!;
    if (i === 0 || excerpts[i - 1]!.track !== t) {
      ballots.push({ ...track, end: track.first + track.probability.length, until: [], who: [] });
    } else {
      ballots.at(-1)!.until.push((excerpts[i - 1]!.end + first) / 2 - track.first);
    }
    ballots.at(-1)!.who.push(who[i]!);
  }
  return ballots;
}

/** Votes [frames x speakers] of the tracks that reach into frames [from, to). */
function count(ballots: Ballot[], waiting: number, from: number, to: number, speakers: number): Float32Array {
  const votes = new Float32Array((to - from) * speakers);
  for (let b = waiting; b < ballots.length && ballots[b]!.first < to; b++) {
    const { first, end, probability, until, who } = ballots[b]!;
    let part = 0;
    for (let frame = Math.max(first, from); frame < Math.min(end, to); frame++) {
      while (part < until.length && frame - first >= until[part]!) part++;
      votes[(frame - from) * speakers + who[part]!]! += probability[frame - first]!;
    }
  }
  return votes;
}

/**
 * Votes a speaker needs in a frame with `speakerCounts` simultaneous speakers: those of the last of them. `speakerCounts` is small, so a pass per speaker.
 */
function leastVotes(row: Float32Array, speakerCounts: number): number {
  let least = Number.POSITIVE_INFINITY;
  for (let rank = Math.min(row.length, Math.round(speakerCounts)); rank > 0; ) {
    let next = Number.NEGATIVE_INFINITY;
    let ties = 0;
    for (let speaker = 0; speaker < row.length; speaker++) {
      const votes = row[speaker]!;
      if (votes >= least || votes < next) continue;
      ties = votes > next ? 1 : ties + 1;
      next = votes;
    }
    least = next;
    rank -= ties;
  }
  return Math.max(least, MIN_VOTES + Number.EPSILON);
}

/** Joins one speaker's speech across short pauses, then drops what is too short. `turns` are ordered by time per speaker. */
export function smoothed(turns: Turn[]): Turn[] {
  const latest = new Map<number, Turn>();
  const joined: Turn[] = [];
  for (const turn of turns) {
    const before = latest.get(turn.speaker);
    if (before && turn.start - before.end < MAX_PAUSE_SECONDS) {
      before.end = turn.end;
      continue;
    }
    const own = { ...turn };
    latest.set(turn.speaker, own);
    joined.push(own);
  }
  return joined.filter(({ start, end }) => end - start >= MIN_TURN_SECONDS);
}

/** Sorted by start, speakers numbered in order of first appearance. */
export function renumbered(turns: Turn[]): Turn[] {
  const names = new Map<number, number>();
  return turns
    .toSorted((a, b) => a.start - b.start || a.end - b.end)
    .map((turn) => {
      if (!names.has(turn.speaker)) names.set(turn.speaker, names.size);
      return { ...turn, speaker: names.get(turn.speaker)! };
    });
}
