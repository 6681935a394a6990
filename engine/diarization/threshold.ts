import {
  DEFAULT_THRESHOLD,
  DEFAULT_THRESHOLD_WEIGHT,
  MAX_THRESHOLD,
  MIN_COMPARED_SECONDS,
  MIN_THRESHOLD,
  THRESHOLD_MARGIN,
} from './campplus.ts';
import { dot } from './label.ts';
import type { Pair } from './pairs.ts';

/**
 * The cosine from which on two embeddings count as one speaker, for this recording: in a narrow band all voices are similar. Two local
 * speakers that the segmentation model separates within one window are different people, and show how similar different people are here.
 */
export function similarityThreshold(embeddings: readonly Float32Array[], pairs: readonly Pair[]): number {
  const others = pairs
    .filter(({ seconds, joined }) => !joined && seconds >= MIN_COMPARED_SECONDS)
    .map(({ a, b }) => dot(embeddings[a]!, embeddings[b]!));
  if (!others.length) return DEFAULT_THRESHOLD;
  const median = others.toSorted((a, b) => a - b)[Math.floor(others.length / 2)]!;
  const weight = others.length / (others.length + DEFAULT_THRESHOLD_WEIGHT);
  return Math.min(MAX_THRESHOLD, Math.max(MIN_THRESHOLD, DEFAULT_THRESHOLD + weight * (median + THRESHOLD_MARGIN - DEFAULT_THRESHOLD)));
}
