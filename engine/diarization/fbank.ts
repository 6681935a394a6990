/** Kaldi's log mel filterbank, as CAM++ was trained on: models/README.md states the recipe, kaldi-feat the arithmetic. */

export const MELS = 80;
export const FRAME = 400; // samples: 25 ms
export const SHIFT = 160; // samples: 10 ms
const FFT = 512;
const BINS = FFT / 2 + 1;
const RATE = 16_000;
const LOW = 20; // Hz
const FLOOR = 1.1920929e-7;
const EMPHASIS = 0.97;

const POVEY = Float64Array.from({ length: FRAME }, (_, i) => (0.5 - 0.5 * Math.cos((2 * Math.PI * i) / (FRAME - 1))) ** 0.85);
const BANK = melBank();
const COSINE = Float64Array.from({ length: FFT / 2 }, (_, i) => Math.cos((2 * Math.PI * i) / FFT));
const SINE = Float64Array.from({ length: FFT / 2 }, (_, i) => Math.sin((2 * Math.PI * i) / FFT));
const REVERSED = bitReversed(FFT / 2);

/** Rows of features a number of samples yields (no padding). */
export function frameCount(samples: number): number {
  return samples < FRAME ? 0 : Math.floor((samples - FRAME) / SHIFT) + 1;
}

/** Samples at 16 kHz in [-1, 1) to natural-log mel energies [frames x 80] row-major. */
export function fbank(samples: Float32Array): Float32Array {
  const frames = frameCount(samples.length);
  const features = new Float32Array(frames * MELS);
  const real = new Float64Array(FFT / 2);
  const imaginary = new Float64Array(FFT / 2);
  const power = new Float64Array(BINS);
  const frame = new Float64Array(FFT);
  for (let t = 0; t < frames; t++) {
    prepare(samples, t * SHIFT, frame);
    for (let i = 0; i < FFT / 2; i++) {
      const j = REVERSED[i]!;
      real[i] = frame[2 * j]!;
      imaginary[i] = frame[2 * j + 1]!;
    }
    transform(real, imaginary);
    powerOf(real, imaginary, power);
    for (let m = 0; m < MELS; m++) {
      const { first, weights } = BANK[m]!;
      let energy = 0;
      for (let k = 0; k < weights.length; k++) energy += weights[k]! * power[first + k]!;
      features[t * MELS + m] = Math.log(Math.max(energy, FLOOR));
    }
  }
  return features;
}

/** Subtracts each band's mean over time, in place. features [frames x 80]. */
export function centre(features: Float32Array): Float32Array {
  const frames = features.length / MELS;
  for (let m = 0; m < MELS; m++) {
    let sum = 0;
    for (let t = 0; t < frames; t++) sum += features[t * MELS + m]!;
    const mean = sum / frames;
    for (let t = 0; t < frames; t++) features[t * MELS + m]! -= mean;
  }
  return features;
}

/** One frame without its mean, with pre-emphasis and window; zeros behind. */
function prepare(samples: Float32Array, start: number, frame: Float64Array): void {
  let sum = 0;
  for (let i = 0; i < FRAME; i++) sum += samples[start + i]!;
  const mean = sum / FRAME;
  let before = samples[start]! - mean;
  for (let i = 0; i < FRAME; i++) {
    const value = samples[start + i]! - mean;
    frame[i] = (value - EMPHASIS * before) * POVEY[i]!;
    before = value;
  }
}

/** In-place complex FFT of 256 points whose input is already in bit-reversed order. */
function transform(real: Float64Array, imaginary: Float64Array): void {
  const n = FFT / 2;
  for (let half = 1; half < n; half *= 2) {
    const stride = FFT / (2 * half);
    for (let block = 0; block < n; block += 2 * half) {
      for (let k = 0; k < half; k++) {
        const c = COSINE[k * stride]!;
        const s = SINE[k * stride]!;
        const a = block + k;
        const b = a + half;
        const re = real[b]! * c + imaginary[b]! * s;
        const im = imaginary[b]! * c - real[b]! * s;
        real[b] = real[a]! - re;
        imaginary[b] = imaginary[a]! - im;
        real[a]! += re;
        imaginary[a]! += im;
      }
    }
  }
}

/** Power spectrum of 512 real samples from the transform of their even and odd samples as one complex signal. */
function powerOf(real: Float64Array, imaginary: Float64Array, power: Float64Array): void {
  const n = FFT / 2;
  power[0] = (real[0]! + imaginary[0]!) ** 2;
  power[n] = (real[0]! - imaginary[0]!) ** 2;
  for (let k = 1; k < n; k++) {
    const evenRe = (real[k]! + real[n - k]!) / 2;
    const evenIm = (imaginary[k]! - imaginary[n - k]!) / 2;
    const oddRe = (imaginary[k]! + imaginary[n - k]!) / 2;
    const oddIm = (real[n - k]! - real[k]!) / 2;
    const c = COSINE[k]!;
    const s = SINE[k]!;
    const re = evenRe + oddRe * c + oddIm * s;
    const im = evenIm + oddIm * c - oddRe * s;
    power[k] = re * re + im * im;
  }
}

/** Triangles of equal width in mel, 20 Hz to half the rate; the last bin is left out, as Kaldi does. */
function melBank(): { first: number; weights: Float64Array }[] {
  const mel = (hz: number) => 1127 * Math.log(1 + hz / 700);
  const low = mel(LOW);
  const width = (mel(RATE / 2) - low) / (MELS + 1);
  return Array.from({ length: MELS }, (_, i) => {
    const left = low + i * width;
    const weights = Array.from({ length: BINS - 1 }, (_, bin) => {
      const m = mel((bin * RATE) / FFT);
      return Math.max(0, Math.min((m - left) / width, (left + 2 * width - m) / width));
    });
    const first = weights.findIndex((weight) => weight > 0);
    const last = weights.findLastIndex((weight) => weight > 0);
    return { first: Math.max(first, 0), weights: Float64Array.from(first < 0 ? [] : weights.slice(first, last + 1)) };
  });
}

function bitReversed(n: number): Uint16Array {
  const bits = Math.log2(n);
  return Uint16Array.from({ length: n }, (_, i) => {
    let reversed = 0;
    for (let bit = 0; bit < bits; bit++) if (i & (1 << bit)) reversed |= 1 << (bits - 1 - bit);
    return reversed;
  });
}
