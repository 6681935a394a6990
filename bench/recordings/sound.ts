import { appendFile, readFile, writeFile } from 'node:fs/promises';
import { decode } from '../../engine/audio/decode.ts';
import { SAMPLE_RATE } from '../../engine/types.ts';

export { SAMPLE_RATE };

/** All samples of a short file, downmixed, 16 kHz. */
export async function samplesOf(path: string): Promise<Float32Array> {
  const recording = await decode(path, { signal: new AbortController().signal });
  try {
    return await recording.read('mix', 0, 60 * 60 * SAMPLE_RATE);
  } finally {
    await recording.close();
  }
}

/** Writes a 16-bit wav file of one or more channels of equal length. */
export async function writeWav(path: string, ...channels: Float32Array[]): Promise<void> {
  const count = channels.length;
  const length = channels[0]!.length;
  const data = Buffer.alloc(44 + length * count * 2);
  data.write('RIFF', 0);
  data.writeUInt32LE(36 + length * count * 2, 4);
  data.write('WAVEfmt ', 8);
  data.writeUInt32LE(16, 16);
  data.writeUInt16LE(1, 20);
  data.writeUInt16LE(count, 22);
  data.writeUInt32LE(SAMPLE_RATE, 24);
  data.writeUInt32LE(SAMPLE_RATE * count * 2, 28);
  data.writeUInt16LE(count * 2, 32);
  data.writeUInt16LE(16, 34);
  data.write('data', 36);
  data.writeUInt32LE(length * count * 2, 40);
  for (const [c, samples] of channels.entries()) {
    for (let i = 0; i < length; i++)
      data.writeInt16LE(Math.max(-32768, Math.min(32767, Math.round(samples[i]! * 32768))), 44 + (i * count + c) * 2);
  }
  await writeFile(path, data);
}

/** Repeats a file of `writeWav`: up to 4 GiB, 37 hours of one channel. */
export async function repeatWav(from: string, to: string, times: number): Promise<void> {
  const wav = await readFile(from);
  const length = (wav.length - 44) * times;
  const head = Buffer.from(wav.subarray(0, 44));
  head.writeUInt32LE(36 + length, 4);
  head.writeUInt32LE(length, 40);
  await writeFile(to, head);
  for (let i = 0; i < times; i++) await appendFile(to, wav.subarray(44));
}

/** RMS level. */
export function level(samples: Float32Array): number {
  let sum = 0;
  for (const x of samples) sum += x * x;
  return Math.sqrt(sum / Math.max(1, samples.length));
}

/** The same sound after some silence. */
export function delayed(samples: Float32Array, seconds: number): Float32Array {
  const before = Math.round(seconds * SAMPLE_RATE);
  const out = new Float32Array(before + samples.length);
  out.set(samples, before);
  return out;
}

export function scaled(samples: Float32Array, gain: number): Float32Array {
  return samples.map((x) => x * gain);
}

/** Changes pace, and with it pitch: a factor above 1 is faster. Linear interpolation. */
export function paced(samples: Float32Array, factor: number): Float32Array {
  return Float32Array.from({ length: Math.floor(samples.length / factor) }, (_, i) => {
    const at = Math.floor(i * factor);
    const part = i * factor - at;
    return samples[at]! * (1 - part) + (samples[at + 1] ?? 0) * part;
  });
}

/** Mixes `part` into `whole` at a sample offset. */
export function mixInto(whole: Float32Array, part: Float32Array, at: number): void {
  for (let i = 0; i < part.length && at + i < whole.length; i++) whole[at + i] = whole[at + i]! + part[i]!;
}

/** Telephone band: 300 to 3400 Hz, by two second-order Butterworth sections (RBJ cookbook, Q = 0.7071). */
export function telephone(samples: Float32Array): Float32Array {
  return biquad(biquad(samples, 300, 'high'), 3400, 'low');
}

/** High-pass at 150 Hz, by two sections as in `telephone`: removes knocks and hum, and of a voice only the fundamental. */
export function withoutRumble(samples: Float32Array): Float32Array {
  return biquad(biquad(samples, 150, 'high'), 150, 'high');
}

/** High-pass at 30 Hz, by two sections as in `telephone`. */
export function withoutInfrasound(samples: Float32Array): Float32Array {
  return biquad(biquad(samples, 30, 'high'), 30, 'high');
}

function biquad(samples: Float32Array, hertz: number, pass: 'low' | 'high'): Float32Array {
  const w = (2 * Math.PI * hertz) / SAMPLE_RATE;
  const alpha = Math.sin(w) / (2 * Math.SQRT1_2);
  const c = Math.cos(w);
  const b1 = pass === 'low' ? 1 - c : -(1 + c);
  const b0 = Math.abs(b1) / 2;
  const a0 = 1 + alpha;
  let [x1, x2, y1, y2] = [0, 0, 0, 0];
  return samples.map((x) => {
    const y = (b0 * x + b1 * x1 + b0 * x2 + 2 * c * y1 - (1 - alpha) * y2) / a0;
    [x2, x1, y2, y1] = [x1, x, y1, y];
    return y;
  });
}
