import { randomUUID } from 'node:crypto';
import { constants } from 'node:fs';
import { type FileHandle, open, unlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Recording, SAMPLE_RATE, type Surround } from '../../types.ts';
import type { Track } from '../probe.ts';
import { clipClicks, extentOf, gainFor, isHeard } from './gain.ts';

const BLOCK_SAMPLES = SAMPLE_RATE; // one second; these samples share a scale
const BYTES_PER_SAMPLE = 2; // signed 16 bit, scaled per block
const MAX_AMPLITUDE = 2 ** 32; // larger values are not audio; floats at the scale of 32-bit integers are, as programs write them that only convert the type

/** Opens a private file: mode 0600, unlinked immediately. `folder` defaults to the system's temporary folder. */
export async function openScratch(folder = tmpdir()): Promise<FileHandle> {
  const path = join(folder, `longhand-${randomUUID()}.pcm`);
  const file = await open(path, constants.O_RDWR | constants.O_CREAT | constants.O_EXCL | constants.O_NOFOLLOW, 0o600);
  await unlink(path);
  return file;
}

/**
 * A scratch file of samples and its waiting readers. Storing 16 bits per sample preserves floats at any level, because each second of a
 * channel has its own scale, a power of two; 16-bit audio is stored bit-exactly. Silence takes no disk space.
 */
export class Scratch implements Recording {
  readonly channels: number;
  readonly surround?: readonly Surround[];
  readonly decoded: Promise<number>;
  #file: FileHandle;
  #scales: number[] = []; // [seconds x channels] row-major; 0: silence, not written
  #peaks: number[] = []; // [seconds] of the loudest channel
  #loudest = 0; // of them
  #level = 0; // highest of any second
  #block: Float32Array; // [channels x BLOCK_SAMPLES] row-major, the second being filled
  #filled = 0; // samples in it
  #readable = 0; // samples per channel on disk
  #gain = 1;
  #finished = false;
  #failure: Error | undefined;
  #settle!: { resolve(samples: number): void; reject(error: Error): void };
  #waiting = new Set<() => void>();

  constructor(file: FileHandle, channels: number, surround: Track['surround'] = null) {
    this.#file = file;
    this.channels = channels;
    if (surround && channels > 2) this.surround = [{ channels: [...Array(channels).keys()], film: surround === 'film' }];
    this.#block = new Float32Array(channels * BLOCK_SAMPLES);
    this.decoded = new Promise((resolve, reject) => {
      this.#settle = { resolve, reject };
    });
    this.decoded.catch(() => {}); // handled by readers and awaiters
  }

  /** Samples per channel that can be read: whole seconds until the end is known. */
  get length(): number {
    return this.#readable;
  }

  /** Samples per channel appended so far. */
  get taken(): number {
    return this.#readable + this.#filled;
  }

  /** Appends sample frames from the decoder, [frames x channels] row-major. */
  async append(samples: Float32Array): Promise<void> {
    const { channels } = this;
    for (let at = 0; at < samples.length; ) {
      const count = Math.min((samples.length - at) / channels, BLOCK_SAMPLES - this.#filled);
      for (let channel = 0; channel < channels; channel++) {
        const to = channel * BLOCK_SAMPLES + this.#filled;
        for (let i = 0, from = at + channel; i < count; i++, from += channels) this.#block[to + i] = samples[from]!;
      }
      at += count * channels;
      await this.#advance(count);
    }
  }

  async appendSilence(samples: number): Promise<void> {
    for (let left = samples; left > 0; ) {
      const count = Math.min(left, BLOCK_SAMPLES - this.#filled);
      for (let channel = 0; channel < this.channels; channel++) {
        const to = channel * BLOCK_SAMPLES + this.#filled;
        this.#block.fill(0, to, to + count);
      }
      left -= count;
      await this.#advance(count);
    }
  }

  /** Marks the end of the samples, or with `failure` why they end early. */
  async finish(failure?: Error): Promise<void> {
    if (this.#finished) return;
    try {
      if (!failure) await this.#write();
    } catch (error) {
      failure = error as Error;
    }
    this.#finished = true;
    this.#failure = failure;
    this.#gain = gainFor(this.#peaks);
    if (failure) this.#settle.reject(failure);
    else this.#settle.resolve(this.length);
    this.#wake();
  }

  async read(channel: number | 'mix', start: number, end: number, room?: Float32Array): Promise<Float32Array> {
    // A quiet recording can be read only once its gain is known.
    const ready = () => this.#finished || (this.length >= end && isHeard(this.#loudest));
    while (!ready()) await new Promise<void>((resolve) => this.#waiting.add(resolve));
    if (this.#failure) throw this.#failure;
    const count = Math.max(0, Math.min(end - start, this.length - start, room?.length ?? end));
    const samples = room ? room.subarray(0, count) : new Float32Array(count);
    if (channel !== 'mix' || this.channels === 1) await this.#fill(channel === 'mix' ? 0 : channel, start, samples, this.#gain);
    else {
      samples.fill(0);
      const one = new Float32Array(count);
      for (let c = 0; c < this.channels; c++) {
        await this.#fill(c, start, one, this.#gain / this.channels);
        for (let i = 0; i < count; i++) samples[i]! += one[i]!;
      }
    }
    return samples;
  }

  async close(): Promise<void> {
    await this.finish(new Error('the recording was closed'));
    await this.#file.close();
  }

  async #advance(count: number): Promise<void> {
    this.#filled += count;
    if (this.#filled === BLOCK_SAMPLES) await this.#write();
  }

  /** Writes the current second, full or not. */
  async #write(): Promise<void> {
    const count = this.#filled;
    if (!count) return;
    const seconds = Array.from({ length: this.channels }, (_, c) => this.#block.subarray(c * BLOCK_SAMPLES, c * BLOCK_SAMPLES + count));
    for (const samples of seconds) silenceInvalid(samples);
    const extents = seconds.map(extentOf);
    this.#level = Math.max(this.#level, ...extents.map(({ level }) => level));
    let peak = 0;
    for (const [channel, samples] of seconds.entries()) {
      const { lowest, highest } = clipClicks(samples, extents[channel]!, this.#level);
      peak = Math.max(peak, highest, -lowest);
      const scale = scaleOf(lowest, highest);
      const place = this.#scales.push(scale) - 1;
      if (!scale) continue;
      await write(this.#file, new Uint8Array(toPcm(samples, scale).buffer), place * BLOCK_SAMPLES * BYTES_PER_SAMPLE);
    }
    this.#peaks.push(peak);
    this.#loudest = Math.max(this.#loudest, peak);
    this.#filled = 0;
    this.#readable += count;
    this.#wake();
  }

  /** Reads samples of one channel from `start` on and multiplies them by `gain`. */
  async #fill(channel: number, start: number, samples: Float32Array, gain: number): Promise<void> {
    for (let done = 0; done < samples.length; ) {
      const [block, from] = [Math.floor((start + done) / BLOCK_SAMPLES), (start + done) % BLOCK_SAMPLES];
      const place = block * this.channels + channel;
      const part = samples.subarray(done, done + this.#contiguous(place) * BLOCK_SAMPLES - from);
      done += part.length;
      if (!this.#scales[place]) {
        part.fill(0);
        continue;
      }
      // Put the bytes at the end of the samples' own buffer: no byte is overwritten before it has been read.
      const bytes = part.length * BYTES_PER_SAMPLE;
      const pcm = new Int16Array(part.buffer, part.byteOffset + part.byteLength - bytes, part.length);
      await readAll(this.#file, new Uint8Array(pcm.buffer, pcm.byteOffset, bytes), (place * BLOCK_SAMPLES + from) * BYTES_PER_SAMPLE);
      for (let i = 0, at = place; i < part.length; at++) {
        const end = Math.min(part.length, (at - place + 1) * BLOCK_SAMPLES - from);
        fromPcm(pcm, part, i, end, this.#scales[at]! * gain);
        i = end;
      }
    }
  }

  /** How many seconds from a place on lie one after the other in the file: one read is faster than one per second. */
  #contiguous(place: number): number {
    let end = place + 1;
    if (this.channels === 1 && this.#scales[place]) while (this.#scales[end]) end++;
    return end - place;
  }

  #wake(): void {
    const waiting = [...this.#waiting];
    this.#waiting.clear();
    for (const resume of waiting) resume();
  }
}

/** The smallest power of two that fits samples into 16 bits; 0 for silence. */
function scaleOf(lowest: number, highest: number): number {
  const loudest = Math.max(highest, -lowest);
  if (loudest < Number.EPSILON) return 0;
  const scale = 2 ** (Math.ceil(Math.log2(loudest)) - 15);
  return highest > 32_767 * scale ? 2 * scale : scale;
}

/* Loops over samples are functions of their own: within an async method writing takes twice as long. */

/** Replaces values that are not audio by silence. */
function silenceInvalid(samples: Float32Array): void {
  for (let i = 0; i < samples.length; i++) if (!(Math.abs(samples[i]!) < MAX_AMPLITUDE)) samples[i] = 0; // also NaN
}

/** Samples in units of `scale`, a power of two, whose inverse is exact. */
function toPcm(samples: Float32Array, scale: number): Int16Array {
  const pcm = new Int16Array(samples.length);
  const inverse = 1 / scale;
  for (let i = 0; i < pcm.length; i++) pcm[i] = Math.round(samples[i]! * inverse);
  return pcm;
}

/** Multiplies `pcm` from `start` to `end` by `scale` into the same places of `samples`. */
function fromPcm(pcm: Int16Array, samples: Float32Array, start: number, end: number, scale: number): void {
  for (let i = start; i < end; i++) samples[i] = pcm[i]! * scale;
}

async function write(file: FileHandle, bytes: Uint8Array, position: number): Promise<void> {
  for (let done = 0; done < bytes.length; ) {
    const { bytesWritten } = await file.write(bytes, done, bytes.length - done, position + done);
    done += bytesWritten;
  }
}

async function readAll(file: FileHandle, bytes: Uint8Array, position: number): Promise<void> {
  for (let done = 0; done < bytes.length; ) {
    const { bytesRead } = await file.read(bytes, done, bytes.length - done, position + done);
    if (!bytesRead) throw new Error(`Cannot read samples: the scratch file ended ${bytes.length - done} bytes early`);
    done += bytesRead;
  }
}
