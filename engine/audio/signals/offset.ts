import { SAMPLE_RATE } from '../../types.ts';
import { BLOCK_SAMPLES, type Cleaning } from './blocks.ts';

const WINDOW_SAMPLES = SAMPLE_RATE / 2;
const LEAST_AMPLITUDE = 1e-3; // of full scale; less is not heard where silence is inserted. This and the next by reasoning, not measured
const LEAST_SHARE = 0.5; // of the RMS of the rest

/** Removes a constant offset, as of cheap sound cards: it is heard as a click where windows are cut, and hides soft voices. */
export const OFFSET: Cleaning<number> = {
  /** Little is read of a block without one. */
  async find(read, start) {
    const end = start + BLOCK_SAMPLES;
    const last = end - WINDOW_SAMPLES;
    const windows = await Promise.all([start, start + BLOCK_SAMPLES / 2, last].map((at) => read(at, at + WINDOW_SAMPLES)));
    const whole = windows.every(({ length }) => length === WINDOW_SAMPLES); // else the recording ends here
    if (whole && !windows.some((samples) => offsetOf(samples))) return 0;
    const samples = await read(start, end);
    return offsetOf(samples.length < WINDOW_SAMPLES ? await read(Math.max(0, start - BLOCK_SAMPLES), end) : samples);
  },
  remove(samples, offset) {
    if (offset) for (let i = 0; i < samples.length; i++) samples[i]! -= offset;
  },
};

/** Mean of samples, if it is far from 0; else 0. */
function offsetOf(samples: Float32Array): number {
  let [sum, squares] = [0, 0];
  for (const x of samples) {
    sum += x;
    squares += x * x;
  }
  const mean = sum / (samples.length || 1);
  const rest = Math.sqrt(Math.max(0, squares / (samples.length || 1) - mean * mean));
  return Math.abs(mean) >= Math.max(LEAST_AMPLITUDE, LEAST_SHARE * rest) ? mean : 0;
}
