import { logistic, logit } from '../../engine/asr/whisper/timing/calibration.ts';

/** A recognised word: its confidence, 0 to 1, and whether it is right. */
export interface Judged {
  confidence: number;
  right: boolean;
}

/** How far confidence agrees with the share of right words. */
export interface Reliability {
  words: number;
  /** Share of right words. */
  right: number;
  /** Expected calibration error over the bins: mean absolute difference between confidence and share of right words, weighted by words. */
  ece: number;
  /** Mean squared difference between confidence and 1 for a correct, 0 for an incorrect word. */
  brier: number;
  /** Area under the ROC curve: the probability that a right word has a higher confidence than a wrong one. */
  auc: number;
  /** Words by confidence, in ten bins of equal width; empty ones are left out. */
  bins: { words: number; confidence: number; right: number }[];
}

/** The results of `bench/accuracy/confidence.ts`. */
export interface ConfidenceResults {
  what: string;
  map: { slope: number; intercept: number };
  /** On the test set: the mean probability of a word's tokens, and the calibrated confidence. */
  test: { clips: number; before: Reliability; after: Reliability };
  tuning?: { clips: number; before: Reliability; after: Reliability };
}

const BINS = 10;

export function reliability(judged: readonly Judged[]): Reliability {
  const bins = Array.from({ length: BINS }, () => ({ words: 0, confidence: 0, right: 0 }));
  let brier = 0;
  for (const { confidence, right } of judged) {
    const bin = bins[Math.min(BINS - 1, Math.floor(confidence * BINS))]!;
    bin.words++;
    bin.confidence += confidence;
    bin.right += Number(right);
    brier += (confidence - Number(right)) ** 2;
  }
  const count = Math.max(1, judged.length);
  return {
    words: judged.length,
    right: mean(judged.map(({ right }) => Number(right))),
    ece: bins.reduce((sum, bin) => sum + Math.abs(bin.confidence - bin.right), 0) / count,
    brier: brier / count,
    auc: auc(judged),
    bins: bins
      .filter(({ words }) => words)
      .map(({ words, confidence, right }) => ({ words, confidence: confidence / words, right: right / words })),
  };
}

/** From the ranks of the right words (Mann-Whitney); equal confidences share their mean rank. 0.5 without right or incorrect words. */
function auc(judged: readonly Judged[]): number {
  const sorted = judged.toSorted((a, b) => a.confidence - b.confidence);
  let [ranks, right] = [0, 0];
  for (let from = 0, to = 0; from < sorted.length; from = to) {
    while (to < sorted.length && sorted[to]!.confidence === sorted[from]!.confidence) to++;
    const among = sorted.slice(from, to).filter((word) => word.right).length;
    ranks += (among * (from + 1 + to)) / 2;
    right += among;
  }
  const wrong = sorted.length - right;
  return right && wrong ? (ranks - (right * (right + 1)) / 2) / (right * wrong) : 0.5;
}

const STEPS = 100; // of Newton's method, which converges in about ten
const RIDGE = 1e-6; // keeps the slope finite where right and incorrect words do not overlap

/** The map logistic(slope · logit(confidence) + intercept) under which the judgements are most probable (Platt scaling). */
export function fitLogistic(judged: readonly Judged[]): { slope: number; intercept: number } {
  let [slope, intercept] = [1, 0];
  for (let step = 0; step < STEPS; step++) {
    let [ga, gb, aa, ab, bb] = [RIDGE * (slope - 1), RIDGE * intercept, RIDGE, 0, RIDGE];
    for (const { confidence, right } of judged) {
      const x = logit(confidence);
      const p = logistic(slope * x + intercept);
      const [error, weight] = [p - Number(right), p * (1 - p)];
      ga += error * x;
      gb += error;
      aa += weight * x * x;
      ab += weight * x;
      bb += weight;
    }
    const determinant = aa * bb - ab * ab;
    slope -= (bb * ga - ab * gb) / determinant;
    intercept -= (aa * gb - ab * ga) / determinant;
  }
  return { slope, intercept };
}

function mean(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / Math.max(1, values.length);
}
