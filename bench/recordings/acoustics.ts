import { SAMPLE_RATE } from './sound.ts';

export type Point = readonly [x: number, y: number, z: number];

/** A room with six plane walls of one material. Metres. */
export interface Shoebox {
  size: Point;
  /** Reverberation time: seconds until sound has decayed by 60 dB. */
  reverberation: number;
}

const SPEED = 343; // metres per second
const TAPS = 16; // windowed sinc for fractional delays: samples on either side
const FRACTIONS = 64; // resolution of a fractional delay
const SIMULATED = 0.7; // share of the reverberation time that is simulated: 42 dB

/** Absorption coefficient of the walls for a reverberation time (Eyring's formula). */
export function absorption({ size: [x, y, z], reverberation }: Shoebox): number {
  const surface = 2 * (x * y + y * z + x * z);
  return 1 - Math.exp((-24 * Math.log(10) * x * y * z) / (SPEED * reverberation * surface));
}

/**
 * Impulse response from `source` to `microphone` by the image-source method of Allen and Berkley (1979): walls mirror the source, and each
 * image arrives delayed by its distance and attenuated by distance and reflections. The direct sound from 1 m has amplitude 1.
 */
export function impulseResponse(room: Shoebox, source: Point, microphone: Point): Float32Array {
  const reflected = Math.sqrt(1 - absorption(room));
  const farthest = SPEED * Math.max(SIMULATED * room.reverberation, (distance(source, microphone) + 1) / SPEED);
  const response = new Float32Array(Math.ceil((farthest / SPEED) * SAMPLE_RATE) + 2 * TAPS);
  const axes = [0, 1, 2].map((axis) => images(room.size[axis]!, source[axis]!, microphone[axis]!, farthest));
  for (const x of axes[0]!) {
    for (const y of axes[1]!) {
      const flat = x.offset ** 2 + y.offset ** 2;
      if (flat > farthest ** 2) continue;
      for (const z of axes[2]!) {
        const metres = Math.sqrt(flat + z.offset ** 2);
        if (metres <= farthest) addEcho(response, (metres / SPEED) * SAMPLE_RATE, reflected ** (x.walls + y.walls + z.walls) / metres);
      }
    }
  }
  return response;
}

/** Along one axis: each image's distance to the microphone, and its number of reflections. */
function images(length: number, source: number, microphone: number, farthest: number): { offset: number; walls: number }[] {
  const found: { offset: number; walls: number }[] = [];
  const most = Math.ceil(farthest / (2 * length)) + 1;
  for (let n = -most; n <= most; n++) {
    for (const mirrored of [0, 1]) {
      const offset = (mirrored ? -source : source) + 2 * n * length - microphone;
      if (Math.abs(offset) <= farthest) found.push({ offset, walls: Math.abs(n - mirrored) + Math.abs(n) });
    }
  }
  return found;
}

/** Windowed sinc for each fraction of a sample. */
const KERNELS = Array.from({ length: FRACTIONS }, (_, fraction) =>
  Float32Array.from({ length: 2 * TAPS }, (_, tap) => {
    const t = tap - TAPS + 1 - fraction / FRACTIONS;
    const sinc = Math.abs(t) < 1e-9 ? 1 : Math.sin(Math.PI * t) / (Math.PI * t);
    return sinc * 0.5 * (1 + Math.cos((Math.PI * t) / TAPS));
  }),
);

/** Adds one echo with a fractional delay. */
function addEcho(response: Float32Array, delay: number, gain: number): void {
  const late = Math.round(delay * FRACTIONS);
  const kernel = KERNELS[late % FRACTIONS]!;
  const first = Math.floor(late / FRACTIONS) - TAPS + 1;
  for (let tap = Math.max(0, -first); tap < kernel.length && first + tap < response.length; tap++)
    response[first + tap]! += gain * kernel[tap]!;
}

export function distance(a: Point, b: Point): number {
  return Math.hypot(a[0] - b[0], a[1] - b[1], a[2] - b[2]);
}

const BLOCK = 32_768; // samples per transform, a power of 2

/** Convolves a sound with an impulse response shorter than a block, truncated to the sound's length: overlap-add FFT. */
export function convolved(sound: Float32Array, response: Float32Array): Float32Array {
  const out = new Float32Array(sound.length);
  const filter = transform(response);
  const step = BLOCK - response.length + 1;
  for (let at = 0; at < sound.length; at += step) {
    const part = sound.subarray(at, at + step);
    if (part.every((x) => x === 0)) continue;
    const { re, im } = transform(part);
    for (let k = 0; k < BLOCK; k++) {
      const [a, b] = [re[k]!, im[k]!];
      re[k] = a * filter.re[k]! - b * filter.im[k]!;
      im[k] = -(a * filter.im[k]! + b * filter.re[k]!); // conjugate, so that the same transform is the inverse
    }
    fourier(re, im);
    const end = Math.min(BLOCK, sound.length - at);
    for (let i = 0; i < end; i++) out[at + i]! += re[i]! / BLOCK;
  }
  return out;
}

interface Spectrum {
  re: Float64Array;
  im: Float64Array;
}

function transform(samples: Float32Array): Spectrum {
  const re = new Float64Array(BLOCK);
  re.set(samples);
  const im = new Float64Array(BLOCK);
  fourier(re, im);
  return { re, im };
}

const ROOTS = { cos: Float64Array.from({ length: BLOCK / 2 }, (_, k) => Math.cos((2 * Math.PI * k) / BLOCK)), sin: new Float64Array(0) };
ROOTS.sin = Float64Array.from({ length: BLOCK / 2 }, (_, k) => -Math.sin((2 * Math.PI * k) / BLOCK));

/** Discrete Fourier transform of a block, in place: radix 2, decimation in time. */
function fourier(re: Float64Array, im: Float64Array): void {
  for (let i = 1, j = 0; i < BLOCK; i++) {
    let bit = BLOCK >> 1;
    for (; j & bit; bit >>= 1) j ^= bit;
    j ^= bit;
    if (i < j) {
      [re[i], re[j]] = [re[j]!, re[i]!];
      [im[i], im[j]] = [im[j]!, im[i]!];
    }
  }
  for (let half = 1; half < BLOCK; half <<= 1) {
    const stride = BLOCK / (2 * half);
    for (let from = 0; from < BLOCK; from += 2 * half) {
      for (let k = 0; k < half; k++) {
        const [a, b] = [from + k, from + k + half];
        const [c, s] = [ROOTS.cos[k * stride]!, ROOTS.sin[k * stride]!];
        const [x, y] = [re[b]! * c - im[b]! * s, re[b]! * s + im[b]! * c];
        re[b] = re[a]! - x;
        im[b] = im[a]! - y;
        re[a] = re[a]! + x;
        im[a] = im[a]! + y;
      }
    }
  }
}
