import type { Recipe } from '../descriptor.ts';

/** What any Whisper checkpoint is built by before anything is measured: as in training, with evened scales. */
export const DEFAULT: Recipe = {
  hop: 160,
  pooledLayers: [],
  coarseHeads: [],
  rows: 10,
  buckets: [64, 128, 240, 448],
  scales: { values: 'equalised', queries: 'row', rowwise: [] },
};

const ROW_BYTES = 768 * 2 ** 20; // of rows that are decoded together on a thread
const [FEWEST, MOST] = [4, 10]; // eight instead of ten take 3 % more time on base

/** Rows that are decoded together where one takes so many bytes. */
export function rowsFor(bytes: number): number {
  return Math.max(FEWEST, Math.min(MOST, Math.floor(ROW_BYTES / bytes)));
}
