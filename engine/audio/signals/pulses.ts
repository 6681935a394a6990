import { levelsAboveRumble, STEP_SAMPLES } from '../../loudness.ts';
import { SAMPLE_RATE, type Span } from '../../types.ts';
import { isDigit, isVoiced, type Peaks, peaksOf } from './peaks.ts';
import type { Piece } from './pieces.ts';
import { windowedSpectrum } from './spectrum.ts';

const STEPS_PER_SECOND = SAMPLE_RATE / STEP_SAMPLES;
const MAX_STEPS = 20; // of a pulse; findTones() finds longer ones
const MAX_PAUSE_STEPS = 30; // between two pulses
const EDGE_LEVEL = 10; // dB below the loudest step within a pause: there a pulse ends
const QUIET_LEVEL = 26; // dB below a pulse, of the quietest step on either side of it, and of all steps of a long pause
const DIGIT_QUIET_LEVEL = 15; // the same of a dialled digit, whose two tones no voice has, so that the line may be noisy
const [DECAY_STEPS, RISE_STEPS] = [8, 3]; // of a pause, in which codecs let one pulse decay and the next one rise
const SILENCE_LEVEL = -100; // dB of full scale
const WINDOW_SAMPLES = 1024; // 64 ms: at 32 ms, the tones of a dial tone are one peak
const SHIFT_SAMPLES = 128; // of the two windows from the middle of a pulse
const MIN_PEAK_SHARE = 0.95; // share of the power in the peaks: a voice 13 dB below a pulse is inaudible
const STRONG_SHARE = 0.1; // of the power; the frequency of weaker peaks is uncertain
const FREQUENCY_TOLERANCE_HERTZ = 4; // from one window to the other
const MIN_PULSES = 4; // in 16 minutes of speech (98 clips) there are not even two in a row; limited to 300-3400 Hz never three

/** A sound between quieter moments, in steps, [first, end). */
interface Burst {
  first: number;
  end: number;
  isPulse: boolean;
  /** It follows another one after a pause in which nothing sounds. */
  isNext: boolean;
}

/**
 * Finds tones in pulses too short for `findTones()`: dialled digits, stutter dial tones, beeps. Within a pulse, a voice can be as pure and as
 * steady; but not four times in a row, with silence before and after each.
 */
export class Pulses {
  readonly #rows: Burst[][] = [[]];

  /** Takes the next piece of a recording. */
  add({ samples, start, from, to }: Piece): void {
    for (const burst of burstsIn(samples)) {
      const [first, end] = [start / STEP_SAMPLES + burst.first, start / STEP_SAMPLES + burst.end];
      if (first < from / STEP_SAMPLES || first >= to / STEP_SAMPLES) continue; // of another one
      const row = this.#rows.at(-1)!;
      if (burst.isPulse && (burst.isNext || !row.length)) row.push({ ...burst, first, end });
      else if (row.length) this.#rows.push(burst.isPulse ? [{ ...burst, first, end }] : []);
    }
  }

  /** Where enough of them follow one another. */
  spans(): Span[] {
    return this.#rows
      .filter(({ length }) => length >= MIN_PULSES)
      .map((row) => ({ start: row[0]!.first / STEPS_PER_SECOND, end: row.at(-1)!.end / STEPS_PER_SECOND }));
  }
}

function burstsIn(samples: Float32Array): Burst[] {
  const levels = levelsAboveRumble(samples);
  const loudest = highestNear(levels, MAX_PAUSE_STEPS);
  const sounds = (step: number) => levels[step]! > Math.max(SILENCE_LEVEL, loudest[step]! - EDGE_LEVEL);
  const bursts: Burst[] = [];
  for (let first = 0; first < levels.length; first++) {
    if (!sounds(first)) continue;
    let end = first + 1;
    while (end < levels.length && sounds(end)) end++;
    bursts.push({ first, end, isPulse: false, isNext: false });
    first = end;
  }
  for (const [i, burst] of bursts.entries()) {
    const { first, end } = burst;
    if (end - first > MAX_STEPS) continue;
    const highest = Math.max(...levels.subarray(first, end));
    const earlier = bursts[i - 1]?.end ?? 0;
    const later = bursts[i + 1]?.first ?? levels.length;
    const before = levels.subarray(Math.max(earlier, first - MAX_PAUSE_STEPS), first);
    const after = levels.subarray(end, Math.min(later, end + MAX_PAUSE_STEPS));
    const isApart = (quiet: number) => [before, after].every((beside) => !beside.length || Math.min(...beside) < quiet);
    const tone = isApart(highest - DIGIT_QUIET_LEVEL) ? toneAt(samples, ((first + end) / 2) * STEP_SAMPLES) : null; // which costs the most
    if (!tone) continue;
    const quiet = highest - (isDigit(tone) ? DIGIT_QUIET_LEVEL : QUIET_LEVEL);
    burst.isPulse = isApart(quiet);
    burst.isNext = i > 0 && first - earlier <= MAX_PAUSE_STEPS && before.subarray(DECAY_STEPS, -RISE_STEPS).every((level) => level < quiet);
  }
  return bursts;
}

/** The frequencies of a pulse if it is a tone, with the same ones slightly before and after its middle; else null. */
function toneAt(samples: Float32Array, middle: number): Peaks | null {
  let earlier: Peaks | null = null;
  for (const shift of [-SHIFT_SAMPLES, SHIFT_SAMPLES]) {
    const from = Math.max(0, Math.min(samples.length - WINDOW_SAMPLES, middle + shift - WINDOW_SAMPLES / 2));
    if (from + WINDOW_SAMPLES > samples.length) return null;
    const found = peaksOf(windowedSpectrum(samples, from, WINDOW_SAMPLES), SAMPLE_RATE / WINDOW_SAMPLES);
    if (found.share < MIN_PEAK_SHARE || isVoiced(found) || (earlier && !isSame(earlier, found))) return null;
    earlier = found;
  }
  return earlier;
}

function isSame(earlier: Peaks, later: Peaks): boolean {
  return earlier.peaks
    .filter(({ power }) => power >= STRONG_SHARE * earlier.power)
    .every((peak) => later.peaks.some(({ frequency }) => Math.abs(frequency - peak.frequency) <= FREQUENCY_TOLERANCE_HERTZ));
}

/** Highest value within `reach` of each. */
function highestNear(values: Float32Array, reach: number): Float32Array {
  return values.map((_, at) => {
    let highest = Number.NEGATIVE_INFINITY;
    for (let i = Math.max(0, at - reach); i <= Math.min(values.length - 1, at + reach); i++) highest = Math.max(highest, values[i]!);
    return highest;
  });
}
