import { level, RATE, withoutRumble } from './sound.ts';

const STEP = RATE / 100; // samples a frame
const BELOW = 35; // dB under the loud frames that is no speech in a clean clip …
const ABOVE = 8; // … and dB over the noise that is none in another: the hiss of a pause is not speech
const APART = 15; // dB that loud frames and the threshold lie apart at least: a clip without any pause is all speech
const CLICK = 3; // frames: a shorter burst is no speech
const CLOSURE = 12; // frames that lips and tongue are shut within a word at most: two bursts so near to each other belong together
const PAUSE = 30; // frames: a shorter pause belongs to the speech, as in NIST's reference turns
const SHORTEST = 10; // frames

export interface TrueSpan {
  start: number;
  end: number;
}

/**
 * Where somebody speaks in a clip of one voice, from its sound alone, in seconds: frames of 10 ms at least 8 dB over the clip's own noise (its quietest
 * 20th) and at most 35 dB under its loud parts (its loudest 20th), above the rumble of the room. No word is without a vowel: a burst that holds no voice,
 * and hangs together with none that does, is a breath or a knock. Taken from the clip before it is mixed, filtered or covered by noise.
 */
export function speechSpans(samples: Float32Array): TrueSpan[] {
  const sound = withoutRumble(samples);
  const decibels = Array.from({ length: Math.floor(sound.length / STEP) }, (_, i) => loudness(sound.subarray(i * STEP, (i + 1) * STEP)));
  const ranked = decibels.toSorted((a, b) => a - b);
  const at = (part: number) => ranked[Math.floor(ranked.length * part)] ?? 0;
  const loud = at(0.95);
  const threshold = Math.max(loud - BELOW, Math.min(at(0.05) + ABOVE, loud - APART));
  const bursts = joinedRuns(runsOver(decibels, threshold), 0).filter(({ start, end }) => end - start >= CLICK);
  const words = joinedRuns(bursts, CLOSURE).filter((word) => isVoiced(sound, word));
  const spoken = bursts.filter(({ start, end }) => words.some((word) => start >= word.start && end <= word.end));
  const spans = joinedRuns(spoken, PAUSE).filter(({ start, end }) => end - start >= SHORTEST);
  if (!spans.length) return [{ start: 0, end: samples.length / RATE }];
  return spans.map(({ start, end }) => ({ start: start / 100, end: end / 100 }));
}

const VOICED = 3; // frames
const ALIKE = 0.7; // correlation of a voiced sound with itself a period later; noise reaches 0.4
const PERIODS = [RATE / 400, RATE / 70] as const; // samples, of the highest and the lowest voice
const LOOK = 0.03 * RATE; // samples compared

/** Whether a voice sounds for a few frames. */
function isVoiced(sound: Float32Array, { start, end }: TrueSpan): boolean {
  let voiced = 0;
  for (let frame = start; frame < end && voiced < VOICED; frame++) if (repeats(sound, frame * STEP)) voiced++;
  return voiced >= VOICED;
}

/** Whether the sound around a frame that begins at `first` repeats itself at the pace of a voice. */
function repeats(sound: Float32Array, first: number): boolean {
  const from = Math.max(0, first - LOOK / 2);
  const own = level(sound.subarray(from, from + LOOK));
  for (let lag = PERIODS[0]; lag < PERIODS[1] && from + lag + LOOK <= sound.length; lag++) {
    let product = 0;
    for (let i = from; i < from + LOOK; i++) product += sound[i]! * sound[i + lag]!;
    if (product > ALIKE * LOOK * own * level(sound.subarray(from + lag, from + lag + LOOK))) return true;
  }
  return false;
}

function loudness(frame: Float32Array): number {
  return 20 * Math.log10(level(frame) + 1e-9);
}

/** One span for each frame over the threshold, in frames. */
function runsOver(decibels: readonly number[], threshold: number): TrueSpan[] {
  return decibels.flatMap((x, i) => (x >= threshold ? [{ start: i, end: i + 1 }] : []));
}

function joinedRuns(spans: readonly TrueSpan[], pause: number): TrueSpan[] {
  const out: TrueSpan[] = [];
  for (const span of spans) {
    const last = out.at(-1);
    if (last && span.start - last.end <= pause) last.end = span.end;
    else out.push({ ...span });
  }
  return out;
}
