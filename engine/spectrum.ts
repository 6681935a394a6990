/** Power spectra of frames of real samples, for lengths whose half is a product of small primes: 512, 400, 320. */

/** Writes |DFT|² of `frame` (of the length given to `powerSpectrum`) to `power`: length / 2 + 1 bins. */
export type PowerSpectrum = (frame: Float64Array, power: Float64Array) => void;

/** Prepares the transform of one length: a complex FFT of half that length (Stockham, mixed radix), then the split into real bins. */
export function powerSpectrum(length: number): PowerSpectrum {
  const half = length / 2;
  const stages = stagesOf(half);
  const [packed, other] = [complex(half), complex(half)];
  const turns = unitRoots(length);
  return (frame, power) => {
    pack(frame, packed);
    let [from, to] = [packed, other];
    for (const stage of stages) {
      BUTTERFLIES[stage.radix]!(stage, from.re, from.im, to.re, to.im);
      [from, to] = [to, from];
    }
    powersOf(from, turns, power);
  };
}

interface Complex {
  re: Float64Array;
  im: Float64Array;
}

function complex(length: number): Complex {
  return { re: new Float64Array(length), im: new Float64Array(length) };
}

/** Real samples as half as many complex numbers. */
function pack(frame: Float64Array, { re, im }: Complex): void {
  for (let i = 0; i < re.length; i++) {
    re[i] = frame[2 * i]!;
    im[i] = frame[2 * i + 1]!;
  }
}

/** The powers of a real transform, from that of the packed samples. */
function powersOf({ re, im }: Complex, { cos, sin }: Roots, power: Float64Array): void {
  const half = re.length;
  power[0] = (re[0]! + im[0]!) ** 2;
  power[half] = (re[0]! - im[0]!) ** 2;
  for (let k = 1, mirror = half - 1; k < half; k++, mirror--) {
    const oddRe = (im[k]! + im[mirror]!) / 2;
    const oddIm = (re[mirror]! - re[k]!) / 2;
    const real = (re[k]! + re[mirror]!) / 2 + cos[k]! * oddRe - sin[k]! * oddIm;
    const imaginary = (im[k]! - im[mirror]!) / 2 + cos[k]! * oddIm + sin[k]! * oddRe;
    power[k] = real * real + imaginary * imaginary;
  }
}

interface Stage {
  radix: number;
  /** Butterflies per group, and distance between their members' groups. */
  groups: number;
  stride: number;
  /** exp(-2πi k / radix) and exp(-2πi p / (radix * groups)). */
  roots: Roots;
  twiddles: Roots;
}

interface Roots {
  cos: Float64Array;
  sin: Float64Array;
}

function stagesOf(size: number): Stage[] {
  const stages: Stage[] = [];
  for (let [left, stride] = [size, 1]; left > 1; ) {
    const radix = [4, 2, 3, 5].find((r) => left % r === 0);
    if (!radix) throw new Error(`Cannot transform ${2 * size} samples: ${left} has other prime factors than 2, 3 and 5`);
    stages.push({ radix, groups: left / radix, stride, roots: unitRoots(radix), twiddles: unitRoots(left) });
    left /= radix;
    stride *= radix;
  }
  return stages;
}

function unitRoots(n: number): Roots {
  const angles = Float64Array.from({ length: n }, (_, k) => (-2 * Math.PI * k) / n);
  return { cos: angles.map(Math.cos), sin: angles.map(Math.sin) };
}

type Butterflies = (stage: Stage, re: Float64Array, im: Float64Array, toRe: Float64Array, toIm: Float64Array) => void;

const BUTTERFLIES: Readonly<Record<number, Butterflies>> = { 2: halves, 3: butterflies, 4: quarters, 5: butterflies };

/** One stage of any radix, without destructuring and with the sums in locals: it is called for every frame. */
function butterflies(
  { radix, groups, stride, roots, twiddles }: Stage,
  re: Float64Array,
  im: Float64Array,
  toRe: Float64Array,
  toIm: Float64Array,
): void {
  for (let p = 0; p < groups; p++) {
    for (let u = 0; u < radix; u++) {
      const cos = twiddles.cos[p * u]!;
      const sin = twiddles.sin[p * u]!;
      const to = stride * (radix * p + u);
      for (let q = 0; q < stride; q++) {
        let sumRe = 0;
        let sumIm = 0;
        for (let member = 0, root = 0; member < radix; member++) {
          const from = q + stride * (p + groups * member);
          const rootCos = roots.cos[root]!;
          const rootSin = roots.sin[root]!;
          sumRe += re[from]! * rootCos - im[from]! * rootSin;
          sumIm += re[from]! * rootSin + im[from]! * rootCos;
          root += u;
          if (root >= radix) root -= radix;
        }
        toRe[to + q] = sumRe * cos - sumIm * sin;
        toIm[to + q] = sumRe * sin + sumIm * cos;
      }
    }
  }
}

/** `butterflies` of radix 2, without its multiplications by ±1. */
function halves(
  { groups, stride, twiddles: { cos, sin } }: Stage,
  re: Float64Array,
  im: Float64Array,
  toRe: Float64Array,
  toIm: Float64Array,
): void {
  const apart = stride * groups;
  for (let p = 0; p < groups; p++) {
    for (let q = 0; q < stride; q++) {
      const a = q + stride * p;
      const b = a + apart;
      const to = q + stride * 2 * p;
      const lessRe = re[a]! - re[b]!;
      const lessIm = im[a]! - im[b]!;
      toRe[to] = re[a]! + re[b]!;
      toIm[to] = im[a]! + im[b]!;
      toRe[to + stride] = lessRe * cos[p]! - lessIm * sin[p]!;
      toIm[to + stride] = lessRe * sin[p]! + lessIm * cos[p]!;
    }
  }
}

/** `butterflies` of radix 4 without its multiplications by ±1 and ±i: three times as fast. */
function quarters(
  { groups, stride, twiddles: { cos, sin } }: Stage,
  re: Float64Array,
  im: Float64Array,
  toRe: Float64Array,
  toIm: Float64Array,
): void {
  const apart = stride * groups;
  for (let p = 0; p < groups; p++) {
    const cos1 = cos[p]!;
    const sin1 = sin[p]!;
    const cos2 = cos[2 * p]!;
    const sin2 = sin[2 * p]!;
    const cos3 = cos[3 * p]!;
    const sin3 = sin[3 * p]!;
    for (let q = 0; q < stride; q++) {
      const a = q + stride * p;
      const b = a + apart;
      const c = b + apart;
      const d = c + apart;
      const to = q + stride * 4 * p;
      const evenRe = re[a]! + re[c]!;
      const evenIm = im[a]! + im[c]!;
      const lessRe = re[a]! - re[c]!;
      const lessIm = im[a]! - im[c]!;
      const oddRe = re[b]! + re[d]!;
      const oddIm = im[b]! + im[d]!;
      const apartRe = re[b]! - re[d]!;
      const apartIm = im[b]! - im[d]!;
      toRe[to] = evenRe + oddRe;
      toIm[to] = evenIm + oddIm;
      const oneRe = lessRe + apartIm;
      const oneIm = lessIm - apartRe;
      toRe[to + stride] = oneRe * cos1 - oneIm * sin1;
      toIm[to + stride] = oneRe * sin1 + oneIm * cos1;
      const twoRe = evenRe - oddRe;
      const twoIm = evenIm - oddIm;
      toRe[to + 2 * stride] = twoRe * cos2 - twoIm * sin2;
      toIm[to + 2 * stride] = twoRe * sin2 + twoIm * cos2;
      const threeRe = lessRe - apartIm;
      const threeIm = lessIm + apartRe;
      toRe[to + 3 * stride] = threeRe * cos3 - threeIm * sin3;
      toIm[to + 3 * stride] = threeRe * sin3 + threeIm * cos3;
    }
  }
}
