import { SAMPLE_RATE } from '../../types.ts';

const FAINT_PEAK = 1e-3; // level (-60 dBFS) below which audio is amplified; recordings at -48 dBFS are best left as they are
const TARGET_PEAK = 0.1; // level to amplify to
const MAX_PEAK = 4; // level above which audio is attenuated to 1; lossy codecs overshoot by less
const MAX_GAIN = 1000; // 60 dB; what needs more gain is not a recording of a voice
const CLICK_SHARE = 0.05; // of the seconds that may be far louder than all others: clicks of damaged frames, 1 in 299 s of a broadcast that lost 1 % of its packets
const BLOCK_SAMPLES = 0.01 * SAMPLE_RATE;
const CLICK_BLOCKS = 20; // of a second: a damaged frame of AAC or MP3 decodes to 50 ms, with samples of up to 150,000
const MAX_CREST = 4; // peak of a voice relative to its level

/** Lowest and highest of up to a second of samples, and their level: the peak of all but 0.2 s, which is that of a voice, not of a click. */
export interface Extent {
  lowest: number;
  highest: number;
  level: number;
}

export function extentOf(samples: Float32Array): Extent {
  const peaks = new Float32Array(Math.max(CLICK_BLOCKS + 1, Math.ceil(samples.length / BLOCK_SAMPLES)));
  const extent = { lowest: 0, highest: 0, level: 0 };
  for (let block = 0, i = 0; i < samples.length; block++) {
    const end = Math.min(samples.length, i + BLOCK_SAMPLES);
    let [lowest, highest] = [0, 0];
    for (; i < end; i++) {
      const sample = samples[i]!;
      if (sample > highest) highest = sample;
      else if (sample < lowest) lowest = sample;
    }
    peaks[block] = Math.max(highest, -lowest);
    extent.lowest = Math.min(extent.lowest, lowest);
    extent.highest = Math.max(extent.highest, highest);
  }
  extent.level = peaks.sort().at(-1 - CLICK_BLOCKS)!;
  return extent;
}

/**
 * Clips samples beyond what lossy codecs and voices of the given level reach, in place: clicks of damaged frames, beside which 16 bits have no
 * room for a voice, and which would determine the gain of a short recording.
 * @returns the remaining extent
 */
export function clipClicks(samples: Float32Array, { lowest, highest }: Extent, level: number): { lowest: number; highest: number } {
  const limit = Math.max(MAX_PEAK, MAX_CREST * level);
  if (highest <= limit && lowest >= -limit) return { lowest, highest };
  for (let i = 0; i < samples.length; i++) samples[i] = Math.min(limit, Math.max(-limit, samples[i]!));
  return { lowest: Math.max(lowest, -limit), highest: Math.min(highest, limit) };
}

/** Whether the peak so far rules out that the recording needs gain. */
export function isHeard(peak: number): boolean {
  return peak >= FAINT_PEAK;
}

/**
 * The gain to apply to a recording. Float recordings may have any level, while later stages expect levels of 16-bit audio; within that
 * range nothing is changed.
 * @param peaks peak of each second
 */
export function gainFor(peaks: readonly number[]): number {
  const loudest = peaks.reduce((most, peak) => Math.max(most, peak), 0);
  if (loudest > MAX_PEAK) {
    const usual = peaks.toSorted((a, b) => b - a)[Math.floor(CLICK_SHARE * peaks.length)]!;
    if (usual > MAX_PEAK) return 1 / usual;
    return isHeard(usual) ? 1 : 1 / loudest;
  }
  return loudest > 0 && !isHeard(loudest) ? Math.min(MAX_GAIN, TARGET_PEAK / loudest) : 1;
}
