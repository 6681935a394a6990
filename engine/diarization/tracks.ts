import { type Activity, FRAMES, LOCAL, type Local, TRUST, trustSeen } from './segmentation.ts';

/** One voice that adjacent windows agree on. */
export interface Track {
  /** Frame of the recording that `probability[0]` belongs to. */
  first: number;
  /** Probability that this voice is active, per frame. */
  probability: Float32Array;
}

export interface Tracks {
  /** Ordered by first frame. */
  tracks: Track[];
  /** Number of simultaneous speakers, per frame of the recording. */
  heads: Float32Array;
}

const AGREE = 6; // frames that two local speakers must share to be one voice
const SHARE = 0.5; // and share of the less active one
const ALIVE = 0.3; // a local speaker below this is inactive
const ORDERS = [
  [0, 1, 2],
  [0, 2, 1],
  [1, 0, 2],
  [1, 2, 0],
  [2, 0, 1],
  [2, 1, 0],
] as const; // of three local speakers

/** Joins the local speakers of adjacent windows into voices, and blends the windows by confidence. */
export function joinTracks({ locals, step, total }: Activity): Tracks {
  const members = follow(locals, step);
  const seen = trustSeen(locals.length, step, total);
  const tracks = members.map((places) => {
    const first = places[0]!.window * step;
    const last = places.at(-1)!.window * step;
    const probability = new Float32Array(Math.min(total, last + FRAMES) - first);
    for (const { window, speaker } of places) {
      const offset = window * step - first;
      const { voices } = locals[window]!;
      const count = Math.min(FRAMES, probability.length - offset);
      for (let frame = 0; frame < count; frame++) probability[offset + frame]! += (voices[frame * LOCAL + speaker]! * TRUST[frame]!) / 255;
    }
    for (let i = 0; i < probability.length; i++) probability[i]! /= seen[first + i]!;
    return { first, probability };
  });
  return { tracks, heads: countHeads(locals, step, total, seen) };
}

function countHeads(locals: Local[], step: number, total: number, seen: Float32Array): Float32Array {
  const heads = new Float32Array(total);
  for (const [w, { voices }] of locals.entries()) {
    const count = Math.min(FRAMES, total - w * step);
    for (let frame = 0; frame < count; frame++) {
      const sum = voices[frame * LOCAL]! + voices[frame * LOCAL + 1]! + voices[frame * LOCAL + 2]!;
      heads[w * step + frame]! += (sum * TRUST[frame]!) / 255;
    }
  }
  for (let frame = 0; frame < total; frame++) heads[frame]! /= seen[frame]!;
  return heads;
}

interface Place {
  window: number;
  speaker: number;
}

/** The places of each voice: one local speaker in each of some adjacent windows. */
function follow(locals: Local[], step: number): Place[][] {
  const members: Place[][] = [];
  let before: number[] = [-1, -1, -1]; // voice of each local speaker of the previous window
  for (const [window, { voices }] of locals.entries()) {
    const ids = [-1, -1, -1];
    if (window > 0) for (const [i, j] of agreeing(locals[window - 1]!.voices, voices, step)) if (before[i]! >= 0) ids[j] = before[i]!;
    for (let speaker = 0; speaker < LOCAL; speaker++) {
      if (ids[speaker]! < 0 && highest(voices, speaker) > ALIVE * 255) ids[speaker] = members.push([]) - 1;
      if (ids[speaker]! >= 0) members[ids[speaker]!]!.push({ window, speaker });
    }
    before = ids;
  }
  return members;
}

/** Pairs [speaker of the earlier window, speaker of the later one] that are the same voice, by the frames of both windows. */
function agreeing(earlier: Uint8Array, later: Uint8Array, step: number): [number, number][] {
  const both = new Float64Array(LOCAL * LOCAL);
  const mineSum = new Float64Array(LOCAL);
  const theirSum = new Float64Array(LOCAL);
  for (let frame = 0; frame < FRAMES - step; frame++) {
    for (let i = 0; i < LOCAL; i++) {
      const a = earlier[(frame + step) * LOCAL + i]!;
      const own = later[frame * LOCAL + i]!;
      mineSum[i]! += a;
      theirSum[i]! += own;
      for (let j = 0; j < LOCAL; j++) both[i * LOCAL + j]! += Math.min(a, later[frame * LOCAL + j]!);
    }
  }
  const shared = (order: readonly number[]) => order.reduce((sum, j, i) => sum + both[i * LOCAL + j]!, 0);
  const order = ORDERS.reduce<readonly number[]>((best, order) => (shared(order) > shared(best) ? order : best), ORDERS[0]);
  const enough = (i: number, j: number) => both[i * LOCAL + j]! > Math.max(AGREE * 255, SHARE * Math.min(mineSum[i]!, theirSum[j]!));
  return order.map((j, i): [number, number] => [i, j]).filter(([i, j]) => enough(i, j));
}

function highest(voices: Uint8Array, speaker: number): number {
  let highest = 0;
  for (let frame = 0; frame < FRAMES; frame++) highest = Math.max(highest, voices[frame * LOCAL + speaker]!);
  return highest;
}
