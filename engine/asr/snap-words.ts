import type { Spoken } from './recogniser.ts';
import { MAX_BELOW_LOUD, MIN_ABOVE_QUIET, MIN_CONTRAST, MIN_SOUND_STEPS } from './silences.ts';

/** Lengths below are in steps of 10 ms, like the levels. */
const MIN_GAP_STEPS = 8; // a word with less space beside it has no edge of its own
const MAX_INWARD_STEPS = 25; // an edge moves at most this much into the word,
const MAX_OUTWARD_STEPS = 3; // or this much out of it while the sound lasts: beyond is breath and room noise

/**
 * Aligns the edges of words beside pauses with their sound: attention and speech detection place those edges to 0.1 s, the loudness is
 * exact. Order is preserved, and words never overlap.
 * @param levels `levelsAboveRumble` of the window that the words' times refer to
 */
export function toSound(words: readonly Spoken[], levels: Float32Array): Spoken[] {
  return words.map((word, i) => {
    const [first, end] = [Math.round(word.start * 100), Math.min(levels.length, Math.round(word.end * 100))];
    const room = first - Math.round((words[i - 1]?.end ?? -1) * 100);
    const roomAfter = Math.round((words[i + 1]?.start ?? levels.length / 100 + 1) * 100) - end;
    if (end - first < 2 * MIN_SOUND_STEPS) return word;
    const middle = Math.floor((first + end) / 2);
    const loud = Math.max(...levels.subarray(first, end));
    let { start, end: last } = word;
    if (room >= MIN_GAP_STEPS) {
      const threshold = between(loud, quietest(levels, first - 2 * MAX_OUTWARD_STEPS, middle));
      const from = Math.max(0, first - Math.min(MAX_OUTWARD_STEPS, Math.floor(room / 2)));
      start = onset((step) => levels[step]! >= threshold, first, from, Math.min(middle, first + MAX_INWARD_STEPS)) / 100;
    }
    if (roomAfter >= MIN_GAP_STEPS) {
      const threshold = between(loud, quietest(levels, middle, end + 2 * MAX_OUTWARD_STEPS));
      const until = Math.min(levels.length, end + Math.min(MAX_OUTWARD_STEPS, Math.floor(roomAfter / 2)));
      const mirrored = (step: number) => levels[-step]! >= threshold;
      last = (1 - onset(mirrored, 1 - end, 1 - until, Math.min(-middle, 1 - end + MAX_INWARD_STEPS))) / 100;
    }
    return { ...word, start, end: Math.max(start, last) };
  });
}

/** Start of sound near `at`: earlier while the sound lasts, but not before `earliest`; else later, before `latest`; else `at` itself. */
function onset(sounds: (step: number) => boolean, at: number, earliest: number, latest: number): number {
  let step = at;
  if (sounds(at)) {
    while (step > earliest && sounds(step - 1)) step--;
    return step;
  }
  for (let run = 0; step < latest; step++) {
    run = sounds(step) ? run + 1 : 0;
    if (run === MIN_SOUND_STEPS) return step - MIN_SOUND_STEPS + 1;
  }
  return at;
}

function between(loud: number, quiet: number): number {
  return loud - quiet < MIN_CONTRAST ? Number.POSITIVE_INFINITY : Math.max(loud - MAX_BELOW_LOUD, quiet + MIN_ABOVE_QUIET);
}

/** Quiet level of a range: its lowest 10 %. */
function quietest(levels: Float32Array, first: number, end: number): number {
  const ranked = levels.slice(Math.max(0, first), Math.max(1, end)).sort();
  return ranked[Math.floor(ranked.length / 10)] ?? 0;
}
