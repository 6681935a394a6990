/** Constants of Whisper's log-mel features. 16 kHz, 400-point DFT (25 ms), in training every 160 samples (10 ms). */

export const FFT = 400;
export const HOP = 160;
export const BINS = FFT / 2 + 1;

const SAMPLE_RATE = 16000;
const LINEAR_HZ_PER_MEL = 200 / 3; // Slaney's mel scale: linear up to 1 kHz = 15 mel, logarithmic above
const BREAK_MEL = 15;
const BREAK_HZ = 1000;
const LOG_STEP = Math.log(6.4) / 27;
const TOP_MEL = 45.245640471924965; // 8 kHz

/** Slaney's triangular filters with unit area: [mels x BINS]. Source: librosa.filters.mel, as OpenAI Whisper uses it. */
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

/** A Hann-windowed DFT as convolution kernels: [2*BINS x 1 x FFT], real parts first. */
export function dftKernels(): Float32Array {
  const kernels = new Float32Array(2 * BINS * FFT);
  for (let k = 0; k < BINS; k++) {
    for (let n = 0; n < FFT; n++) {
      const window = 0.5 - 0.5 * Math.cos((2 * Math.PI * n) / FFT);
      const angle = (2 * Math.PI * n * k) / FFT;
      kernels[k * FFT + n] = Math.cos(angle) * window;
      kernels[(BINS + k) * FFT + n] = -Math.sin(angle) * window;
    }
  }
  return kernels;
}

function melToHz(mel: number): number {
  return mel < BREAK_MEL ? LINEAR_HZ_PER_MEL * mel : BREAK_HZ * Math.exp(LOG_STEP * (mel - BREAK_MEL));
}
