import { SAMPLE_RATE } from '../../sample-rate.ts';

/** Constants of Whisper's log-mel features. 16 kHz, 400-point DFT (25 ms), a frame every 160 samples (10 ms) in training. */

export const FFT = 400;
export const HOP = 160;
export const BINS = FFT / 2 + 1;

const LINEAR_HZ_PER_MEL = 200 / 3; // Slaney's mel scale: linear up to 1 kHz = 15 mel, logarithmic above
const BREAK_MEL = 15;
const BREAK_HZ = 1000;
const LOG_STEP = Math.log(6.4) / 27;
const TOP_MEL = 45.245640471924965; // 8 kHz

/** Slaney's triangular filters with unit area: [mels x BINS]. Source: librosa.filters.mel, as used by OpenAI Whisper. */
export function melFilters(mels: number): Float32Array {
  const hz = Array.from({ length: mels + 2 }, (_, i) => melToHz((TOP_MEL * i) / (mels + 1)));
  const filters = new Float32Array(mels * BINS);
  for (let m = 0; m < mels; m++) {
    const [low, centre, high] = [hz[m]!, hz[m + 1]!, hz[m + 2]!];
    for (let k = 0; k < BINS; k++) {
      const f = (k * SAMPLE_RATE) / FFT;
      const triangle = Math.min((f - low) / (centre - low), (high - f) / (high - centre));
      filters[m * BINS + k] = (Math.max(0, triangle) * 2) / (high - low);
    }
  }
  return filters;
}

/** Number of bins in the lower half of the spectrum, the middle one included; the upper half mirrors it. */
export const HALF = BINS / 2 + 0.5;

/**
 * A Hann-windowed DFT of folded frames: [4 x FFT/4 x HALF], for the four parts of a frame from engine/asr/whisper/frames.ts. Real parts
 * need only the sums x[+d] + x[-d] around the frame's middle, imaginary parts only the differences. Between the bins k and 200 - k only the
 * sign of the taps at odd distances changes, so bin k is the sum of two products and bin 200 - k their difference: 25 % of the work.
 */
export function foldedKernels(): Float32Array {
  const taps = FFT / 4;
  const kernels = new Float32Array(4 * taps * HALF);
  for (let part = 0; part < 4; part++) {
    for (let i = 0; i < taps; i++) {
      const distance = 2 * i + (part >> 1);
      const window = 0.5 + 0.5 * Math.cos((2 * Math.PI * distance) / FFT);
      for (let k = 0; k < HALF; k++) {
        const angle = (2 * Math.PI * distance * k) / FFT;
        kernels[(part * taps + i) * HALF + k] = (part % 2 ? Math.sin(angle) : Math.cos(angle)) * window;
      }
    }
  }
  return kernels;
}

/** `melFilters` for spectra in the order of bins 0 to 100, then 200 to 100: [2 * HALF x mels]; bin 100 counts once. */
export function foldedFilters(mels: number): Float32Array {
  const filters = melFilters(mels);
  const folded = new Float32Array(2 * HALF * mels);
  for (let m = 0; m < mels; m++) {
    for (let k = 0; k < HALF; k++) {
      folded[k * mels + m] = filters[m * BINS + k]!;
      if (k < HALF - 1) folded[(HALF + k) * mels + m] = filters[m * BINS + BINS - 1 - k]!;
    }
  }
  return folded;
}

function melToHz(mel: number): number {
  return mel < BREAK_MEL ? LINEAR_HZ_PER_MEL * mel : BREAK_HZ * Math.exp(LOG_STEP * (mel - BREAK_MEL));
}
