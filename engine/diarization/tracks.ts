import {
  FRAMES_PER_WINDOW,
  LOCAL_ACTIVE_PROBABILITY,
  LOCAL_SPEAKERS,
  type Local,
  MIN_SHARED_FRAMES,
  MIN_SHARED_PORTION,
  ORDERS,
} from './pyannote.ts';
import { type Activity, TRUST, trustSeen } from './segmentation.ts';

/** One speaker that adjacent windows agree on. */
export interface Track {
  /** Frame of the recording that `probability[0]` belongs to. */
  first: number;
  /** Probability that this speaker is active, per frame. */
  probability: Float32Array;
}

export interface Tracks {
  /** Ordered by first frame. */
  tracks: Track[];
  /** Number of simultaneous speakers, per frame of the recording. */
  speakerCounts: Float32Array;
}

/** Joins the local speakers of adjacent windows into tracks, and blends the windows by confidence. */
export function joinTracks({ locals, step, total }: Activity): Tracks {
  const members = follow(locals, step);
  const seen = trustSeen(locals.length, step, total);
  const tracks = members.map((places) => {
    const first = places[0]!.window * step;
    const last = places.at(-1)!.window * step;
    const probability = new Float32Array(Math.min(total, last + FRAMES_PER_WINDOW) - first);
    for (const { window, speaker } of places) {
      const offset = window * step - first;
      const { speakers } = locals[window]!;
      const count = Math.min(FRAMES_PER_WINDOW, probability.length - offset);
      for (let frame = 0; frame < count; frame++)
        probability[offset + frame]! += (speakers[frame * LOCAL_SPEAKERS + speaker]! * TRUST[frame]!) / 255;
    }
    for (let i = 0; i < probability.length; i++) probability[i]! /= seen[first + i]!;
    return { first, probability };
  });
  return { tracks, speakerCounts: countSpeakers(locals, step, total, seen) };
}

function countSpeakers(locals: Local[], step: number, total: number, seen: Float32Array): Float32Array {
  const speakerCounts = new Float32Array(total);
  for (const [w, { speakers }] of locals.entries()) {
    const count = Math.min(FRAMES_PER_WINDOW, total - w * step);
    for (let frame = 0; frame < count; frame++) {
      const sum = speakers[frame * LOCAL_SPEAKERS]! + speakers[frame * LOCAL_SPEAKERS + 1]! + speakers[frame * LOCAL_SPEAKERS + 2]!;
      speakerCounts[w * step + frame]! += (sum * TRUST[frame]!) / 255;
    }
  }
  for (let frame = 0; frame < total; frame++) speakerCounts[frame]! /= seen[frame]!;
  return speakerCounts;
}

interface Place {
  window: number;
  speaker: number;
}

/** The places of each track: one local speaker in each of some adjacent windows. */
function follow(locals: Local[], step: number): Place[][] {
  const members: Place[][] = [];
  let before: number[] = [-1, -1, -1]; // track of each local speaker of the previous window
  for (const [window, { speakers }] of locals.entries()) {
    const ids = [-1, -1, -1];
    if (window > 0) for (const [i, j] of agreeing(locals[window - 1]!.speakers, speakers, step)) if (before[i]! >= 0) ids[j] = before[i]!;
    for (let speaker = 0; speaker < LOCAL_SPEAKERS; speaker++) {
      if (ids[speaker]! < 0 && highest(speakers, speaker) > LOCAL_ACTIVE_PROBABILITY * 255) ids[speaker] = members.push([]) - 1;
      if (ids[speaker]! >= 0) members[ids[speaker]!]!.push({ window, speaker });
    }
    before = ids;
  }
  return members;
}

/** Pairs [speaker of the earlier window, speaker of the later one] that are the same person, by the frames of both windows. */
function agreeing(earlier: Uint8Array, later: Uint8Array, step: number): [number, number][] {
  const both = new Float64Array(LOCAL_SPEAKERS * LOCAL_SPEAKERS);
  const mineSum = new Float64Array(LOCAL_SPEAKERS);
  const theirSum = new Float64Array(LOCAL_SPEAKERS);
  for (let frame = 0; frame < FRAMES_PER_WINDOW - step; frame++) {
    for (let i = 0; i < LOCAL_SPEAKERS; i++) {
      const a = earlier[(frame + step) * LOCAL_SPEAKERS + i]!;
      const own = later[frame * LOCAL_SPEAKERS + i]!;
      mineSum[i]! += a;
      theirSum[i]! += own;
      for (let j = 0; j < LOCAL_SPEAKERS; j++) both[i * LOCAL_SPEAKERS + j]! += Math.min(a, later[frame * LOCAL_SPEAKERS + j]!);
    }
  }
  const shared = (order: readonly number[]) => order.reduce((sum, j, i) => sum + both[i * LOCAL_SPEAKERS + j]!, 0);
  const order = ORDERS.reduce<readonly number[]>((best, order) => (shared(order) > shared(best) ? order : best), ORDERS[0]);
  const enough = (i: number, j: number) =>
    both[i * LOCAL_SPEAKERS + j]! > Math.max(MIN_SHARED_FRAMES * 255, MIN_SHARED_PORTION * Math.min(mineSum[i]!, theirSum[j]!));
  return order.map((j, i): [number, number] => [i, j]).filter(([i, j]) => enough(i, j));
}

function highest(speakers: Uint8Array, speaker: number): number {
  let highest = 0;
  for (let frame = 0; frame < FRAMES_PER_WINDOW; frame++) highest = Math.max(highest, speakers[frame * LOCAL_SPEAKERS + speaker]!);
  return highest;
}
