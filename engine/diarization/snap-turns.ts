import type { Turn } from '../types.ts';
import { CERTAIN_SPEAKERS, frameAt } from './pyannote.ts';

/* Levels are computed every 10 ms. Lengths below are in such steps, levels in dB. */

const MAX_BELOW_LOUD = 35; // this far below the loud parts of a turn is not speech, …
const QUIET_SHARE = 0.2; // … nor is less than this share of the distance from its quiet parts to its loud ones
const MIN_SOUND_STEPS = 3; // shorter sounds are ignored
const MAX_PAUSE_STEPS = 33; // longer pauses are never part of the turn
const MARGIN_STEPS = 4; // kept around the sound, like human annotators do
const MIN_TURN_STEPS = 10;

/**
 * Trims turns to their sound. The segmentation model places edges to 0.1 s and ignores short pauses; loudness is exact, but includes noise.
 * So a turn loses what is quiet relative to itself where the model is not certain of speech.
 * @param levels of `levelsOf`
 * @param speakerCounts number of simultaneous speakers, per frame of the model
 */
export function snapToSound(turns: readonly Turn[], levels: Float32Array, speakerCounts: Float32Array): Turn[] {
  return turns.flatMap((turn) => snapTurn(turn, levels, speakerCounts));
}

/** [first step, step after the last]. */
type Range = [from: number, to: number];

function snapTurn(turn: Turn, levels: Float32Array, speakerCounts: Float32Array): Turn[] {
  const [from, to] = [Math.max(0, Math.round(turn.start * 100)), Math.min(levels.length, Math.round(turn.end * 100))];
  const ranked = levels.slice(from, to).sort();
  const [quiet, loud] = [ranked[Math.floor(ranked.length * 0.05)]!, ranked[Math.floor(ranked.length * 0.95)]!];
  const threshold = Math.max(loud - MAX_BELOW_LOUD, quiet + QUIET_SHARE * (loud - quiet));
  const isUncertain = (pause: Range) => fewestSpeakers(speakerCounts, pause) < CERTAIN_SPEAKERS;

  const sounds = soundsIn(levels, [from, to], threshold);
  if (!sounds.length) return [turn];
  const first = Math.max(from, sounds[0]![0] - MARGIN_STEPS);
  const last = Math.min(to, sounds.at(-1)![1] + MARGIN_STEPS);
  const start = isUncertain([from - 2, first]) ? first : from;
  const end = isUncertain([last, to + 2]) ? last : to;

  const pauses = between(sounds).filter(
    (pause) => pause[1] - pause[0] > MAX_PAUSE_STEPS && pause[0] > start && pause[1] < end && isUncertain(pause),
  );
  const parts = between([[from, start], ...pauses, [end, to]]);
  const long = parts.length > 1 ? parts.filter((part) => part[1] - part[0] >= MIN_TURN_STEPS) : parts;
  return long.map(([a, b]) => ({ ...turn, start: a / 100, end: b / 100 }));
}

/** Runs of steps above the threshold, without the shortest. */
function soundsIn(levels: Float32Array, [from, to]: Range, threshold: number): Range[] {
  const found: Range[] = [];
  let begin = -1;
  for (let i = from; i <= to; i++) {
    const on = i < to && levels[i]! >= threshold;
    if (on && begin < 0) begin = i;
    if (on || begin < 0) continue;
    if (i - begin >= MIN_SOUND_STEPS) found.push([begin, i]);
    begin = -1;
  }
  return found;
}

/** The gaps between adjacent ranges. */
function between(ranges: readonly Range[]): Range[] {
  return ranges.slice(1).map(([next], i) => [ranges[i]![1], next]);
}

/** Minimum number of simultaneous speakers in a range. */
function fewestSpeakers(speakerCounts: Float32Array, [from, to]: Range): number {
  let least = Number.POSITIVE_INFINITY;
  for (let i = from; i < to; i++) {
    least = Math.min(least, speakerCounts[frameAt((i + 0.5) / 100)] ?? 0);
  }
  return least;
}
