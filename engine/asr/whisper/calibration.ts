/*
 * Calibration of word confidence: of words with confidence 0.8, about 80 % are right. A logistic map of the mean token probability, fitted
 * to Whisper base in 8 bits by `node --import tsx bench/confidence.ts --fit`, on the tuning set of bench/data: 1,457 words of 36 clips, as
 * recorded and over the telephone band. All checkpoints use it.
 */
export const SLOPE = 1.065;
export const INTERCEPT = 0.153;

const LOWEST = 1e-4; // probabilities closer to 0 or 1 are treated as this close

/** Confidence of a word from the mean probability of its tokens; both 0 to 1. Strictly increasing between 0.0001 and 0.9999. */
export function calibrated(probability: number): number {
  return logistic(SLOPE * logit(probability) + INTERCEPT);
}

/** The mean token probability of a confidence: the inverse of `calibrated`. */
export function uncalibrated(confidence: number): number {
  return logistic((logit(confidence) - INTERCEPT) / SLOPE);
}

export function logistic(x: number): number {
  return 1 / (1 + Math.exp(-x));
}

/** Log-odds of a probability. Values that are no number count as 0. */
export function logit(probability: number): number {
  const p = probability > LOWEST ? Math.min(1 - LOWEST, probability) : LOWEST;
  return Math.log(p / (1 - p));
}
