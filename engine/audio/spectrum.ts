interface Plan {
  window: Float64Array;
  cosines: Float64Array;
  sines: Float64Array;
  reversed: Uint32Array;
  real: Float64Array;
  imaginary: Float64Array;
  power: Float64Array;
}

const plans = new Map<number, Plan>();

/**
 * Power spectrum of `size` samples (a power of two) starting at `at`, Hann window, [size / 2 + 1] by frequency. The next call with the same
 * size overwrites it.
 */
export function powerSpectrum(samples: Float32Array, at: number, size: number): Float64Array {
  const { window, cosines, sines, reversed, real, imaginary, power } = planFor(size);
  for (let i = 0; i < size; i++) real[reversed[i]!] = samples[at + i]! * window[i]!;
  imaginary.fill(0);
  for (let half = 1, stride = size / 2; half < size; half *= 2, stride /= 2) {
    for (let from = 0; from < size; from += 2 * half) {
      for (let k = 0; k < half; k++) {
        const a = from + k; // no pairs here: allocating an array per product took most of the time
        const b = a + half;
        const cosine = cosines[k * stride]!;
        const sine = sines[k * stride]!;
        const x = real[b]! * cosine - imaginary[b]! * sine;
        const y = real[b]! * sine + imaginary[b]! * cosine;
        real[b] = real[a]! - x;
        imaginary[b] = imaginary[a]! - y;
        real[a]! += x;
        imaginary[a]! += y;
      }
    }
  }
  for (let k = 0; k <= size / 2; k++) power[k] = real[k]! ** 2 + imaginary[k]! ** 2;
  return power;
}

function planFor(size: number): Plan {
  let plan = plans.get(size);
  if (!plan) {
    const bits = Math.log2(size);
    const angle = (k: number) => (-2 * Math.PI * k) / size;
    plan = {
      window: Float64Array.from({ length: size }, (_, i) => 0.5 - 0.5 * Math.cos((2 * Math.PI * i) / size)),
      cosines: Float64Array.from({ length: size / 2 }, (_, k) => Math.cos(angle(k))),
      sines: Float64Array.from({ length: size / 2 }, (_, k) => Math.sin(angle(k))),
      reversed: Uint32Array.from({ length: size }, (_, i) => {
        let mirrored = 0;
        for (let bit = 0; bit < bits; bit++) mirrored |= ((i >> bit) & 1) << (bits - 1 - bit);
        return mirrored;
      }),
      real: new Float64Array(size),
      imaginary: new Float64Array(size),
      power: new Float64Array(size / 2 + 1),
    };
    plans.set(size, plan);
  }
  return plan;
}
