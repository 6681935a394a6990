import { level, RATE, withoutRumble } from './sound.ts';

const STEP = RATE / 100; // samples a frame
const MARGIN = 15.9; // dB between the active speech level and the level that counts as activity in measuring it: ITU-T P.56, method B …
const HANGOVER = 20; // … and frames that activity lasts on
const LOWEST = 80; // dB under the loudest frame at which the search begins
const QUIETEST = 0.1; // share of the frames that tells the energy of the clip's own noise, of which …
const SUBTRACTED = 2; // … so many times is taken away (Berouti's over-subtraction): what is left is speech
const UNDER = 20; // dB under the active speech level from which on a clean clip holds no speech: soft consonants lie above
const CLICK = 3; // frames: a shorter burst is no speech
const CLOSURE = 12; // frames that lips and tongue are shut within a word at most: two bursts so near to each other belong together
const PAUSE = 30; // frames: a shorter pause belongs to the speech, as in NIST's reference turns
const SHORTEST = 10; // frames

export interface TrueSpan {
  start: number;
  end: number;
}

/**
 * Where somebody speaks in a clip of one voice, from its sound alone, in seconds: frames of 10 ms less than 20 dB under the active speech level of the clip
 * (ITU-T P.56), when the energy of its own noise is taken away, above the rumble of the room. No word is without a vowel: a burst that holds no voice, and hangs together with none that does, is a breath
 * or a knock. Taken from the dry clip, before it is mixed, filtered, reverberated or covered by noise; the engine places edges by another rule.
 */
export function speechSpans(samples: Float32Array): TrueSpan[] {
  const sound = withoutRumble(samples);
  const energies = Float64Array.from(
    { length: Math.floor(sound.length / STEP) },
    (_, i) => level(sound.subarray(i * STEP, (i + 1) * STEP)) ** 2,
  );
  const speech = withoutNoise(energies);
  const bursts = joinedRuns(runsOver(speech, decibels(activeLevel(speech)) - UNDER), 0).filter(({ start, end }) => end - start >= CLICK);
  const words = joinedRuns(bursts, CLOSURE).filter((word) => isVoiced(sound, word));
  const spoken = bursts.filter(({ start, end }) => words.some((word) => start >= word.start && end <= word.end));
  const spans = joinedRuns(spoken, PAUSE).filter(({ start, end }) => end - start >= SHORTEST);
  if (!spans.length) return [{ start: 0, end: samples.length / RATE }];
  return spans.map(({ start, end }) => ({ start: start / 100, end: end / 100 }));
}

/** Energy of each frame beyond that of the clip's own noise. */
function withoutNoise(energies: Float64Array): Float64Array {
  const noise = energies.toSorted()[Math.floor(energies.length * QUIETEST)] ?? 0;
  return energies.map((energy) => Math.max(0, energy - SUBTRACTED * noise));
}

/** Mean energy of a clip while somebody speaks: its whole energy over the time that lies above a threshold 15.9 dB lower (ITU-T P.56, method B). */
export function activeLevel(energies: Float64Array): number {
  const whole = energies.reduce((sum, energy) => sum + energy, 0);
  const loudest = decibels(energies.reduce((most, energy) => Math.max(most, energy), 0));
  let active = 0;
  for (let threshold = loudest - LOWEST; threshold <= loudest; threshold += 0.5) {
    active = whole / Math.max(1, activeFrames(energies, 10 ** (threshold / 10)));
    if (decibels(active) - threshold <= MARGIN) break;
  }
  return active;
}

/** Frames over a threshold, and those within the hangover after one. */
function activeFrames(energies: Float64Array, threshold: number): number {
  let count = 0;
  let last = Number.NEGATIVE_INFINITY;
  for (const [i, energy] of energies.entries()) {
    if (energy >= threshold) last = i;
    if (i - last <= HANGOVER) count++;
  }
  return count;
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

function decibels(energy: number): number {
  return 10 * Math.log10(energy + 1e-18);
}

/** One span for each frame over the threshold in dB, in frames. */
function runsOver(energies: Float64Array, threshold: number): TrueSpan[] {
  return [...energies.keys()].flatMap((i) => (decibels(energies[i]!) >= threshold ? [{ start: i, end: i + 1 }] : []));
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
