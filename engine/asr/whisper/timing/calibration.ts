import type { Thresholds } from '../../../../models/descriptor.ts';

const LOWEST = 1e-4; // probabilities closer to 0 or 1 are treated as this close

type Calibration = Thresholds['confidence'];

/** Confidence of a word from the mean probability of its tokens; both 0 to 1. Strictly increasing between 0.0001 and 0.9999. */
export function calibrated(probability: number, { slope, intercept }: Calibration): number {
  return logistic(slope * logit(probability) + intercept);
}

/** The mean token probability of a confidence: the inverse of `calibrated`. */
export function uncalibrated(confidence: number, { slope, intercept }: Calibration): number {
  return logistic((logit(confidence) - intercept) / slope);
}

export function logistic(x: number): number {
  return 1 / (1 + Math.exp(-x));
}

/** Log-odds of a probability. Values that are no number count as 0. */
export function logit(probability: number): number {
  const p = probability > LOWEST ? Math.min(1 - LOWEST, probability) : LOWEST;
  return Math.log(p / (1 - p));
}
