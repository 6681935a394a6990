import { powerSpectrum } from '../../spectrum.ts';
import { SAMPLE_RATE } from '../../types.ts';
import { type MelScale, melFilters, toBfloat16 } from './filters.ts';
import { halfRate } from './half-rate.ts';

/** Log-mel features of the families that do not compute them in their graphs. Frames are 10 ms apart. */

export const HOP = SAMPLE_RATE / 100; // samples

/** Features [bins x frames], row-major, as models take them. */
export interface Features {
  bins: number;
  frames: number;
  values: Float32Array;
}

/** Computes the features of samples at 16 kHz in [-1, 1). Memory is reused: the result is valid until the next call. */
export type FrontEnd = (samples: Float32Array) => Features;

interface Recipe {
  bins: number;
  /** Samples of the transform and of the window inside it, which is centred. */
  transform: number;
  window: number;
  /** Whether the window's last sample equals the first of the next period. */
  periodic: boolean;
  /** How samples before and after the recording are made up; null: frames lie inside. */
  edges: 'zero' | 'mirror' | null;
  preEmphasis: number;
  scale: MelScale;
  /** Whether window and filters are rounded to bfloat16. */
  rounded: boolean;
  log: (energy: number) => number;
  /** Whether each bin is normalised to mean 0 and deviation 1 over the frames. */
  normalised: boolean;
}

const GUARD = 2 ** -24; // added before the logarithm by NeMo
const DEVIATION_GUARD = 1e-5;
const LIMITS = [1e-9, 1e9] as const; // of energies in GigaAM

/** NeMo's AudioToMelSpectrogramPreprocessor as FastConformer and Parakeet models configure it, without dither. */
const nemo = (bins: number): Recipe => ({
  bins,
  ...{ transform: 512, window: 400, periodic: false, edges: 'zero', preEmphasis: 0.97, scale: 'slaney', rounded: false },
  log: (energy) => Math.log(energy + GUARD),
  normalised: true,
});

/** torchaudio's MelSpectrogram as GigaAM configures it. */
const gigaam: Recipe = {
  ...{ bins: 64, transform: 400, window: 400, periodic: true, edges: 'mirror', preEmphasis: 0, scale: 'htk', rounded: false },
  log: (energy) => Math.log(Math.min(Math.max(energy, LIMITS[0]), LIMITS[1])),
  normalised: false,
};

/** By the name in a model's descriptor. GigaAM's third version has shorter windows, no padding, and constants stored in bfloat16. */
const RECIPES = {
  nemo80: nemo(80),
  nemo128: nemo(128),
  'gigaam-v2': gigaam,
  'gigaam-v3': { ...gigaam, transform: 320, window: 320, edges: null, rounded: true },
} satisfies Record<string, Recipe>;
/** `samples8k`: samples, for models that compute their features themselves. */
export type FeatureKind = keyof typeof RECIPES | 'samples8k';

/** Prepares a kind of features. */
export function openFrontEnd(kind: FeatureKind): FrontEnd {
  if (kind === 'samples8k') return telephone();
  const recipe: Recipe = RECIPES[kind];
  const { bins, transform } = recipe;
  const window = hann(recipe);
  const filters = melFilters(recipe.scale, bins, transform, recipe.rounded);
  const spectrum = powerSpectrum(transform);
  const [frame, power] = [new Float64Array(transform), new Float64Array(transform / 2 + 1)];
  let room = new Float32Array(0);
  return (samples) => {
    const frames = framesOf(samples.length, recipe);
    if (room.length < bins * frames) room = new Float32Array(bins * frames);
    const values = room.subarray(0, bins * frames);
    const padded = emphasised(samples, recipe);
    for (let t = 0; t < frames; t++) {
      for (let i = 0; i < transform; i++) frame[i] = padded[t * HOP + i]! * window[i]!;
      spectrum(frame, power);
      for (let bin = 0; bin < bins; bin++) {
        const { first, weights } = filters[bin]!;
        let energy = 0;
        for (let k = 0; k < weights.length; k++) energy += weights[k]! * power[first + k]!;
        values[bin * frames + t] = recipe.log(energy);
      }
    }
    if (recipe.normalised) for (let bin = 0; bin < bins; bin++) normalise(values.subarray(bin * frames, (bin + 1) * frames));
    return { bins, frames, values };
  };
}

/** Samples at 8 kHz, as features of one bin. */
function telephone(): FrontEnd {
  const half = halfRate();
  return (samples) => {
    const values = half(samples);
    return { bins: 1, frames: values.length, values };
  };
}

function framesOf(samples: number, { edges, transform, normalised }: Recipe): number {
  if (!edges) return Math.max(0, Math.floor((samples - transform) / HOP) + 1);
  return Math.floor(samples / HOP) + (normalised ? 0 : 1); // NeMo leaves out the last frame
}

/** Hann's window, centred in the transform. */
function hann({ transform, window, periodic, rounded }: Recipe): Float64Array {
  const values = new Float64Array(transform);
  const period = periodic ? window : window - 1;
  for (let i = 0; i < window; i++) {
    const value = 0.5 - 0.5 * Math.cos((2 * Math.PI * i) / period);
    values[(transform - window) / 2 + i] = rounded ? toBfloat16(value) : value;
  }
  return values;
}

/** Samples after pre-emphasis, with half a transform made up at either end. */
function emphasised(samples: Float32Array, { edges, preEmphasis, transform }: Recipe): Float64Array {
  const margin = edges ? transform / 2 : 0;
  const padded = new Float64Array(samples.length + 2 * margin);
  let before = 0;
  for (let i = 0; i < samples.length; i++) {
    const sample = samples[i]!;
    padded[margin + i] = sample - preEmphasis * before;
    before = sample;
  }
  if (edges !== 'mirror') return padded;
  const last = samples.length - 1;
  for (let i = 1; i <= margin; i++) {
    padded[margin - i] = samples[Math.min(last, i)] ?? 0;
    padded[margin + last + i] = samples[Math.max(0, last - i)] ?? 0;
  }
  return padded;
}

/** Mean 0, deviation 1 (of the sample, with n - 1). */
function normalise(row: Float32Array): void {
  const mean = row.reduce((sum, value) => sum + value, 0) / row.length;
  const squares = row.reduce((sum, value) => sum + (value - mean) ** 2, 0);
  const deviation = Math.sqrt(squares / Math.max(1, row.length - 1)) + DEVIATION_GUARD;
  for (let i = 0; i < row.length; i++) row[i] = (row[i]! - mean) / deviation;
}
