const FAINT_PEAK = 1e-3; // level (-60 dBFS) below which audio is amplified; recordings at -48 dBFS are best left as they are
const TARGET_PEAK = 0.1; // level to amplify to
const MAX_PEAK = 4; // level above which audio is attenuated to 1; lossy codecs overshoot by less
const MAX_GAIN = 1000; // 60 dB; what needs more gain is not a recording of a voice
const CLICK_SHARE = 0.05; // of the seconds that may be far louder than all others: clicks of damaged frames, 1 in 299 s of a broadcast that lost 1 % of its packets

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
