import { SAMPLE_RATE } from '../../types.ts';
import { windowedSpectrum } from './spectrum.ts';

export const WINDOW_SAMPLES = 8192; // 2 Hz a bin: harmonics of the mains are 25 bins apart
const LEAST_SAMPLES = 4 * SAMPLE_RATE; // of a block; a shorter one does not tell a hum from a held note
const STEADY_SHARE = 0.2; // of the windows may be without the line, as when it is cancelled by a voice
const LOBE_BINS = 2; // on either side of a line
const NEIGHBOUR_BINS = [6, 20] as const; // beside a line, which are compared with it
const LINE_RATIO = 30; // power of a line relative to its neighbours: 15 dB
const LOUD_SHARE = 0.03; // of the power must lie in the lines: a buzz 15 dB below a voice costs few words
const MOST_SHARE = 0.97; // with more, nothing else is audible: what is left of a time code or a dial tone must not be taken for a voice
const LOWEST_HERTZ = 80; // nothing lower disturbs them: at 20 dB above a voice, 50 Hz cost no word
const MOST_LINES = 60;
const STEP_SAMPLES = 512; // 32 ms, a third of the pauses of the fastest busy line
const STEP_SHARE = 0.7; // of these steps must have a line: a busy line sounds half of the time
const FAINT_POWER = 1 / 8; // relative to a line, below which a step does not have it

interface Line {
  hertz: number;
  /** Median power of the windows. */
  power: number;
}

/** Whether some windows, far apart in a block of samples, have lines in common. Costs a tenth of `steadyLines`. */
export function isSuspect(windows: readonly Float32Array[]): boolean {
  return linesOf(windows.map((samples) => windowedSpectrum(samples, 0, WINDOW_SAMPLES).slice())).length > 0;
}

/**
 * Frequencies, in hertz, of steady lines in the spectrum of a block of samples, as of a hum with its harmonics, a whistle, or the buzz of a mobile
 * telephone, if they are loud; else none. A voice or music holds no frequency for most of half a minute. The signals of a
 * busy line are not steady, but their pauses are shorter than a window. What the filters would leave of them is no longer found as a signal, and
 * may be taken for a voice.
 */
export function steadyLines(samples: Float32Array): number[] {
  if (samples.length < LEAST_SAMPLES) return [];
  const windows: Float64Array[] = [];
  for (let at = 0; at + WINDOW_SAMPLES <= samples.length; at += WINDOW_SAMPLES / 2)
    windows.push(windowedSpectrum(samples, at, WINDOW_SAMPLES).slice());
  const lines = linesOf(windows);
  return lines.length ? withoutPauses(lines, samples) : [];
}

/** Frequencies of the lines that sound most of the time. */
function withoutPauses(lines: readonly Line[], samples: Float32Array): number[] {
  const steps: Float64Array[] = [];
  for (let at = 0; at + STEP_SAMPLES <= samples.length; at += 2 * STEP_SAMPLES)
    steps.push(windowedSpectrum(samples, at, STEP_SAMPLES).slice());
  const sounding = lines.filter(({ hertz, power }) => {
    const bin = Math.round((hertz * STEP_SAMPLES) / SAMPLE_RATE);
    const least = FAINT_POWER * power * (STEP_SAMPLES / WINDOW_SAMPLES) ** 2;
    return steps.filter((step) => step[bin]! > least).length >= STEP_SHARE * steps.length;
  });
  return sounding.map(({ hertz }) => hertz);
}

/** Lines that nearly all power spectra have. */
function linesOf(windows: readonly Float64Array[]): Line[] {
  const bins = WINDOW_SAMPLES / 2 + 1;
  const lasting = new Float64Array(bins); // power that nearly all windows exceed
  const median = new Float64Array(bins);
  const mean = new Float64Array(bins);
  const values = new Float64Array(windows.length);
  for (let k = 0; k < bins; k++) {
    for (const [i, power] of windows.entries()) {
      values[i] = power[k]!;
      mean[k]! += power[k]! / windows.length;
    }
    values.sort();
    lasting[k] = values[Math.floor(STEADY_SHARE * (windows.length - 1))]!;
    median[k] = values[windows.length >> 1]!;
  }
  const first = Math.ceil((LOWEST_HERTZ * WINDOW_SAMPLES) / SAMPLE_RATE);
  const peaks: number[] = [];
  for (let k = first; k < bins - NEIGHBOUR_BINS[1]; k++) {
    if (
      lasting[k]! > lasting[k - 1]! &&
      lasting[k]! >= lasting[k + 1]! &&
      exceeds(lasting[k]! / LINE_RATIO, lasting, k) &&
      exceeds(lasting[k]!, mean, k)
    )
      peaks.push(k);
  }
  let [total, inside] = [1e-30, 0];
  for (let k = first; k < bins; k++) total += mean[k]!;
  for (const k of peaks) for (let i = k - LOBE_BINS; i <= k + LOBE_BINS; i++) inside += Math.min(mean[i]!, lasting[i]! * 2);
  if (inside < LOUD_SHARE * total || inside > MOST_SHARE * total) return [];
  const strongest = peaks.sort((a, b) => lasting[b]! - lasting[a]!).slice(0, MOST_LINES);
  return strongest.map((k) => ({ hertz: ((k + offset(lasting, k)) * SAMPLE_RATE) / WINDOW_SAMPLES, power: median[k]! }));
}

/** Whether a value exceeds the median of the power on either side of a bin. Most are refused after a few comparisons. */
function exceeds(value: number, power: Float64Array, k: number): boolean {
  const [near, far] = NEIGHBOUR_BINS;
  let above = 0;
  for (let distance = near + 1; distance <= far && above < far - near; distance++) {
    if (power[k - distance]! >= value) above++;
    if (power[k + distance]! >= value) above++;
  }
  return above < far - near;
}

/** Distance of a peak from its highest bin, in bins: a parabola through the logarithms of three. */
function offset(power: Float64Array, k: number): number {
  const [a, b, c] = [k - 1, k, k + 1].map((i) => Math.log(power[i]! + 1e-30)) as [number, number, number];
  return (0.5 * (a - c)) / (a - 2 * b + c || 1);
}
