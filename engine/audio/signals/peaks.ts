export const MIN_HERTZ = 80; // mains hum does not count as sound
export const MAX_PEAKS = 3; // simultaneous tones, side bands of a modulation included
const MIN_PEAK_SHARE = 0.01; // share of the power below which a peak is ignored
const SKIRT_BINS = 8; // bins on either side of a peak: a voice spreads into them, because its pitch moves, a tone does not
export const MIN_TONE_HERTZ = 300; // every signal's strongest tone is higher than this, and few voices have a higher pitch
export const LOBE_BINS = 2; // bins on either side of a peak that belong to it: main lobe of a pure tone
export const LOBE_WIDTH = 2 * LOBE_BINS + 1;
const VOICE_HARMONICS = { lowest: 70, highest: 500, multiple: 3, near: 0.05, share: 0.05 }; // pitch (hertz), first harmonic, tolerance of the multiple, and its power
const DIGITS = { rows: [697, 770, 852, 941], columns: [1209, 1336, 1477, 1633], near: 0.02, twist: 10 }; // hertz; tolerance, and ratio of the tones' power (ITU-T Q.24)

export interface Peak {
  /** Hertz. */
  frequency: number;
  power: number;
}

export interface Peaks {
  /** Share of the total power in the peaks. */
  share: number;
  power: number;
  /** Strongest first. */
  peaks: Peak[];
}

/** Whether the peaks are a pitch or adjacent harmonics of one, as in a sustained vowel. */
export function isVoiced({ peaks, power }: Peaks): boolean {
  if (peaks[0]!.frequency < MIN_TONE_HERTZ) return true;
  const strong = peaks.filter((peak) => peak.power >= VOICE_HARMONICS.share * power).map(({ frequency }) => frequency);
  strong.sort((a, b) => a - b);
  return strong.slice(1).some((frequency, i) => {
    const pitch = frequency - strong[i]!;
    const multiple = strong[i]! / pitch;
    const whole = Math.round(multiple);
    return (
      pitch >= VOICE_HARMONICS.lowest &&
      pitch <= VOICE_HARMONICS.highest &&
      whole >= 1 &&
      whole <= VOICE_HARMONICS.multiple &&
      Math.abs(multiple - whole) <= VOICE_HARMONICS.near * whole
    );
  });
}

/** Whether the two strongest peaks are the tones of a dialled digit (DTMF). */
export function isDigit({ peaks }: Peaks): boolean {
  const [low, high] = peaks.slice(0, 2).sort((a, b) => a.frequency - b.frequency);
  if (!low || !high || Math.max(low.power, high.power) > DIGITS.twist * Math.min(low.power, high.power)) return false;
  const isNear = (frequency: number) => (hertz: number) => Math.abs(frequency - hertz) <= DIGITS.near * hertz;
  return DIGITS.rows.some(isNear(low.frequency)) && DIGITS.columns.some(isNear(high.frequency));
}

/** The strongest relevant peaks, at most MAX_PEAKS. Their power, and that of the strongest irrelevant one, is removed from the spectrum. */
export function peaksOf(spectrum: Float64Array, width: number): Peaks {
  const total = 1e-30 + powerFrom(spectrum, lowestBin(width));
  const peaks: Peak[] = [];
  let inside = 0;
  while (peaks.length < MAX_PEAKS) {
    const peak = takePeak(spectrum, width);
    if (peaks.length && peak.power < MIN_PEAK_SHARE * total) break;
    inside += peak.power;
    peaks.push(peak);
  }
  return { share: inside / total, power: inside, peaks };
}

/** Power beside the peaks that were removed from a spectrum, as a share of theirs. */
export function spreadOf(spectrum: Float64Array, { peaks, power }: Peaks, width: number): number {
  let beside = 0;
  let from = lowestBin(width);
  for (const { frequency } of peaks.toSorted((a, b) => a.frequency - b.frequency)) {
    const middle = frequency / width;
    const end = Math.min(spectrum.length, Math.floor(middle + SKIRT_BINS) + 1);
    for (let k = Math.max(from, Math.ceil(middle - SKIRT_BINS)); k < end; k++) beside += spectrum[k]!;
    from = Math.max(from, end);
  }
  return beside / (power || 1);
}

/** Removes the highest peak from a spectrum and returns it, with the power of its highest bin. */
export function takePeak(spectrum: Float64Array, width: number): Peak & { highest: number } {
  const lowest = lowestBin(width);
  let [best, highest] = [lowest, spectrum[lowest]!];
  for (let k = lowest; k < spectrum.length; k++) {
    if (spectrum[k]! > highest) [best, highest] = [k, spectrum[k]!];
  }
  let [power, moment] = [0, 0];
  for (let k = Math.max(lowest, best - LOBE_BINS); k <= Math.min(spectrum.length - 1, best + LOBE_BINS); k++) {
    power += spectrum[k]!;
    moment += k * spectrum[k]!;
    spectrum[k] = 0;
  }
  return { frequency: (width * moment) / (power || 1), power, highest };
}

export function lowestBin(width: number): number {
  return Math.ceil(MIN_HERTZ / width);
}

export function powerFrom(spectrum: Float64Array, lowest: number): number {
  let sum = 0;
  for (let k = lowest; k < spectrum.length; k++) sum += spectrum[k]!;
  return sum;
}
