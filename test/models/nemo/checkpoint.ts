import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

/** Tiny networks of NeMo's classes and their outputs: fixtures/nemo/make.py. */
export const NEMO = fileURLToPath(new URL('../fixtures/nemo/', import.meta.url));

interface Outputs {
  bins: number;
  frames: number;
  /** [width x frames] */
  encoded: number[];
  /** [frames x tokens], and greedy tokens, of models with a CTC head. */
  logprobs?: number[];
  ctc?: number[];
  /** Greedy tokens of a transducer, and their frames. */
  tokens?: number[];
  at?: number[];
}

export const EXPECTED: Record<'ctc' | 'tdt' | 'hybrid', Outputs> = JSON.parse(readFileSync(`${NEMO}expected.json`, 'utf8'));

export const FRAMES = 203;

/** Features as fixtures/nemo/make.py computes them, [bins x FRAMES]. */
export function features(bins: number): Float32Array {
  return Float32Array.from({ length: bins * FRAMES }, (_, i) => Math.sin(0.37 * i) + Math.cos(0.011 * i * (i % 97)));
}
