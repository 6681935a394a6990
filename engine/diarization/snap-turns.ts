import type { Recording, Turn } from '../types.ts';
import { FRAME_START, FRAME_STEP, RATE } from './segmentation.ts';

/** Levels are computed every 10 ms. Lengths below are in such steps, loudness in dB. */
const STEP = RATE / 100;
const BLOCK = 60 * RATE; // samples read at once

const BELOW = 35; // this far below the loud parts of a turn is not speech
const PAUSE = { above: 6, apart: 15 }; // not speech within a turn: at most this much above its quiet parts, and at least this far below its loud ones
const EDGE = { above: 3, apart: 25 }; // the same at its ends, where a soft sound may belong to a word
const BURST = 5; // shorter sounds are ignored
const LONG = 33; // longer pauses are never part of the turn
const CERTAIN = 0.9; // where the model is certain of speech, human annotators include pauses too, and room noise may be as loud
const MARGIN = 4; // kept around the sound, like human annotators do
const SHORTEST = 10;

/** Loudness of a channel every 10 ms, in dBFS. 14 MB for ten hours. */
export async function loudness(recording: Recording, channel: number | 'mix', signal?: AbortSignal): Promise<Float32Array> {
  const levels = new Float32Array(Math.ceil(recording.length / STEP));
  const room = new Float32Array(BLOCK);
  for (let at = 0; at < recording.length; at += BLOCK) {
    signal?.throwIfAborted();
    const samples = await recording.read(channel, at, at + BLOCK, room);
    for (let from = 0; from < samples.length; from += STEP) {
      const to = Math.min(samples.length, from + STEP);
      let sum = 0;
      for (let i = from; i < to; i++) sum += samples[i]! * samples[i]!;
      levels[(at + from) / STEP] = 10 * Math.log10(sum / (to - from) + 1e-18);
    }
  }
  return levels;
}

/**
 * Trims turns to their sound. The segmentation model places edges to 0.1 s and ignores short pauses; loudness is exact, but includes noise.
 * So a turn loses what is quiet relative to itself where the model is not certain of speech.
 * @param levels of `loudness`
 * @param heads number of simultaneous speakers, per frame of the model
 */
export function toSound(turns: readonly Turn[], levels: Float32Array, heads: Float32Array): Turn[] {
  return turns.flatMap((turn) => sounding(turn, levels, heads));
}

/** [first step, step after the last]. */
type Range = [from: number, to: number];

function sounding(turn: Turn, levels: Float32Array, heads: Float32Array): Turn[] {
  const [from, to] = [Math.max(0, Math.round(turn.start * 100)), Math.min(levels.length, Math.round(turn.end * 100))];
  const ranked = levels.slice(from, to).sort();
  const [quiet, loud] = [ranked[Math.floor(ranked.length * 0.05)]!, ranked[Math.floor(ranked.length * 0.95)]!];
  const threshold = ({ above, apart }: typeof EDGE) => Math.max(loud - BELOW, Math.min(quiet + above, loud - apart));
  const doubtful = (pause: Range) => leastHeads(heads, pause) < CERTAIN;

  const sounds = bursts(levels, [from, to], threshold(EDGE));
  if (!sounds.length) return [turn];
  const first = Math.max(from, sounds[0]![0] - MARGIN);
  const last = Math.min(to, sounds.at(-1)![1] + MARGIN);
  const start = doubtful([from - 2, first]) ? first : from;
  const end = doubtful([last, to + 2]) ? last : to;

  const pauses = between(bursts(levels, [from, to], threshold(PAUSE))).filter(
    (pause) => pause[1] - pause[0] > LONG && pause[0] > start && pause[1] < end && doubtful(pause),
  );
  const parts = between([[from, start], ...pauses, [end, to]]);
  const long = parts.length > 1 ? parts.filter((part) => part[1] - part[0] >= SHORTEST) : parts;
  return long.map(([a, b]) => ({ ...turn, start: a / 100, end: b / 100 }));
}

/** Runs of steps above the threshold, without the shortest. */
function bursts(levels: Float32Array, [from, to]: Range, threshold: number): Range[] {
  const found: Range[] = [];
  let begin = -1;
  for (let i = from; i <= to; i++) {
    const on = i < to && levels[i]! >= threshold;
    if (on && begin < 0) begin = i;
    if (on || begin < 0) continue;
    if (i - begin >= BURST) found.push([begin, i]);
    begin = -1;
  }
  return found;
}

/** The gaps between adjacent ranges. */
function between(ranges: readonly Range[]): Range[] {
  return ranges.slice(1).map(([next], i) => [ranges[i]![1], next]);
}

/** Minimum number of simultaneous speakers in a range. */
function leastHeads(heads: Float32Array, [from, to]: Range): number {
  let least = Number.POSITIVE_INFINITY;
  for (let i = from; i < to; i++) {
    const frame = Math.round(((i + 0.5) / 100 - FRAME_START) / FRAME_STEP);
    least = Math.min(least, heads[frame] ?? 0);
  }
  return least;
}
