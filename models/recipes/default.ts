import type { Recipe } from '../descriptor.ts';

/** The recipe for any Whisper checkpoint before anything is measured: as in training, with equalised scales. */
export const DEFAULT: Recipe = {
  hop: 160,
  pooledLayers: [],
  coarseHeads: [],
  rows: 16,
  buckets: [64, 128, 240, 448],
  scales: { values: 'equalised', queries: 'row', rowwise: [] },
};

const ROW_BYTES = 768 * 2 ** 20; // memory limit for the rows decoded together on a thread
/**
 * With 16 rows instead of 10, recognition of 12 minutes takes 8 % less time with a model of small's size, whose weights each step reads
 * again, and 4 % with base; 20 rows gain 1 % more.
 */
const [FEWEST, MOST] = [4, 16];

/** Number of rows to decode together, given the bytes per row. */
export function rowsFor(bytes: number): number {
  return Math.max(FEWEST, Math.min(MOST, Math.floor(ROW_BYTES / bytes)));
}
