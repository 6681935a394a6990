import { level, SAMPLE_RATE, withoutRumble } from './sound.ts';

const STEP = SAMPLE_RATE / 100; // samples per frame
const MARGIN = 15.9; // dB between the active speech level and the activity threshold: ITU-T P.56, method B
const HANGOVER = 20; // frames of hangover after activity
const LOWEST = 80; // dB below the loudest frame at which the search begins
const QUIETEST = 0.1; // share of the frames used to estimate the clip's noise energy
const SUBTRACTED = 2; // multiple of it that is subtracted (Berouti's over-subtraction)
const UNDER = 20; // dB below the active speech level under which a clean clip contains no speech: soft consonants are above
const CLICK = 3; // minimum length of a burst of speech, frames
const CLOSURE = 12; // frames: longest closure within a word; bursts closer than this belong together
const PAUSE = 30; // frames: shorter pauses belong to the speech, as in NIST's reference turns
const SHORTEST = 10; // frames
const LEAST_VOICED = 0.5; // share of the bursts with voicing, below which the voice is hoarse or whispers, and voicing tells nothing

export interface TrueSpan {
  start: number;
  end: number;
}

/**
 * Reference speech activity in a clip of one voice, from its audio alone, in seconds: 10 ms frames less than 20 dB below the clip's active
 * speech level (ITU-T P.56), after high-pass filtering and noise subtraction. Every word contains a vowel, so a burst without voicing that
 * is not close to a voiced one is a breath or a knock, except in a voice that is hoarse throughout. Computed on the dry clip before it is mixed, filtered, reverberated or overlaid with
 * noise; the engine places edges by a different rule.
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
  const voiced = bursts.filter(({ start, end }) => words.some((word) => start >= word.start && end <= word.end));
  const spoken = framesIn(voiced) >= LEAST_VOICED * framesIn(bursts) ? voiced : bursts;
  const spans = joinedRuns(spoken, PAUSE).filter(({ start, end }) => end - start >= SHORTEST);
  if (!spans.length) return [{ start: 0, end: samples.length / SAMPLE_RATE }];
  return spans.map(({ start, end }) => ({ start: start / 100, end: end / 100 }));
}

function framesIn(spans: readonly TrueSpan[]): number {
  return spans.reduce((sum, { start, end }) => sum + end - start, 0);
}

/** Energy of each frame minus the clip's noise energy. */
function withoutNoise(energies: Float64Array): Float64Array {
  const noise = energies.toSorted()[Math.floor(energies.length * QUIETEST)] ?? 0;
  return energies.map((energy) => Math.max(0, energy - SUBTRACTED * noise));
}

/** Active speech level: total energy over the time above a threshold 15.9 dB lower (ITU-T P.56, method B). */
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

/** Frames above a threshold, and those within the hangover after one. */
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
const ALIKE = 0.7; // autocorrelation of a voiced sound at its period; noise reaches 0.4
const PERIODS = [SAMPLE_RATE / 400, SAMPLE_RATE / 70] as const; // samples, periods of the highest and the lowest voice
const LOOK = 0.03 * SAMPLE_RATE; // samples compared

/** Whether at least a few frames are voiced. */
function isVoiced(sound: Float32Array, { start, end }: TrueSpan): boolean {
  let voiced = 0;
  for (let frame = start; frame < end && voiced < VOICED; frame++) if (repeats(sound, frame * STEP)) voiced++;
  return voiced >= VOICED;
}

/** Whether the sound around a frame that begins at `first` is periodic at a voice's pitch. */
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

/** One span per frame above the threshold in dB, in frames. */
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
