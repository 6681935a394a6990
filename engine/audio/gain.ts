const FAINT = 1e-3; // level (-60 dBFS) under which sound is raised; recordings at -48 dBFS are best left as they are …
const RAISED = 0.1; // … to this one
const LOUD = 4; // level above which sound is lowered to 1; lossy codecs overshoot by less
const MOST = 1000; // 60 dB: what needs more is no recording of a voice
const STRAY = 4; // seconds that may be far louder than all others: clicks

/** Whether a level seen so far rules out that the recording must be raised. */
export function isHeard(peak: number): boolean {
  return peak >= FAINT;
}

/**
 * The gain with which a recording is heard. Floats may be recorded at any level, and what comes after knows levels of 16-bit sound only; within these
 * nothing is changed.
 * @param peaks loudest sample of each second
 */
export function gainFor(peaks: readonly number[]): number {
  const loudest = peaks.reduce((most, peak) => Math.max(most, peak), 0);
  if (loudest > LOUD) {
    const usual = peaks.toSorted((a, b) => b - a)[Math.min(STRAY, Math.floor(peaks.length / 20))]!;
    if (usual > LOUD) return 1 / usual;
    return isHeard(usual) ? 1 : 1 / loudest;
  }
  return loudest > 0 && !isHeard(loudest) ? Math.min(MOST, RAISED / loudest) : 1;
}
