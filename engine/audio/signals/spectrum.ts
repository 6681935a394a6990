import { type PowerSpectrum, powerSpectrum } from '../../spectrum.ts';

interface Plan {
  window: Float64Array;
  frame: Float64Array;
  power: Float64Array;
  transform: PowerSpectrum;
}

const plans = new Map<number, Plan>();

/**
 * Power spectrum of `size` samples starting at `at` under a Hann window, [size / 2 + 1] by frequency. The next call with the same size
 * overwrites it.
 */
export function windowedSpectrum(samples: Float32Array, at: number, size: number): Float64Array {
  const { window, frame, power, transform } = planFor(size);
  for (let i = 0; i < size; i++) frame[i] = samples[at + i]! * window[i]!;
  transform(frame, power);
  return power;
}

function planFor(size: number): Plan {
  let plan = plans.get(size);
  if (!plan) {
    plan = {
      window: Float64Array.from({ length: size }, (_, i) => 0.5 - 0.5 * Math.cos((2 * Math.PI * i) / size)),
      frame: new Float64Array(size),
      power: new Float64Array(size / 2 + 1),
      transform: powerSpectrum(size),
    };
    plans.set(size, plan);
  }
  return plan;
}
