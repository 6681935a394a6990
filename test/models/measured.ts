import type { Measured } from '../../models/checks/self-check.ts';

const CLIPS = 10;

/** Result of a check: errors in English words, spread over ten clips. */
export function found(rate: number, confidence = 0.9, rtfx = 10, words = 200, cpuLoad = 1 / rtfx): Measured {
  const errors = Math.round(words * rate);
  const rates = [{ language: 'en', clips: CLIPS, words, errors }];
  const clips = Array.from({ length: CLIPS }, (_, i) => ({ words: words / CLIPS, errors: Math.floor((errors + i) / CLIPS) }));
  const at = '2026-01-01T00:00:00.000Z';
  return { at, machine: 'a test', rates, clips, invented: 0, coverage: 0.9, rtfx, threadBytes: 1e8, confidence, cpuLoad };
}
