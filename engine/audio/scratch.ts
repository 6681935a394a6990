import { randomUUID } from 'node:crypto';
import { constants } from 'node:fs';
import { type FileHandle, open, unlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Recording } from '../types.ts';

const BYTES = 2; // a sample: signed 16 bit, little endian

/** Opens a file that nobody else can reach: mode 0600 and without a name from the start. `folder` defaults to the system's temporary folder. */
export async function openScratch(folder = tmpdir()): Promise<FileHandle> {
  const path = join(folder, `longhand-${randomUUID()}.pcm`);
  const file = await open(path, constants.O_RDWR | constants.O_CREAT | constants.O_EXCL | constants.O_NOFOLLOW, 0o600);
  await unlink(path);
  return file;
}

/** Samples on their way into a scratch file, and the readers that wait for them. */
export class Scratch implements Recording {
  readonly channels: 1 | 2;
  readonly decoded: Promise<number>;
  #file: FileHandle;
  #bytes = 0;
  #finished = false;
  #failure: Error | undefined;
  #settle!: { resolve(samples: number): void; reject(error: Error): void };
  #waiting = new Set<() => void>();

  constructor(file: FileHandle, channels: 1 | 2) {
    this.#file = file;
    this.channels = channels;
    this.decoded = new Promise((resolve, reject) => {
      this.#settle = { resolve, reject };
    });
    this.decoded.catch(() => {}); // readers and awaiters hear of it
  }

  get length(): number {
    return Math.floor(this.#bytes / (BYTES * this.channels));
  }

  /** Appends bytes as they come from the decoder; they need not be whole samples. */
  async append(bytes: Uint8Array): Promise<void> {
    for (let done = 0; done < bytes.length; ) {
      const { bytesWritten } = await this.#file.write(bytes, done, bytes.length - done, this.#bytes + done);
      done += bytesWritten;
    }
    this.#bytes += bytes.length;
    this.#wake();
  }

  async appendSilence(samples: number): Promise<void> {
    await this.append(new Uint8Array(samples * BYTES * this.channels));
  }

  /** No more samples will come: all is there, or `failure` says why not. */
  finish(failure?: Error): void {
    if (this.#finished) return;
    this.#finished = true;
    this.#failure = failure;
    if (failure) this.#settle.reject(failure);
    else this.#settle.resolve(this.length);
    this.#wake();
  }

  async read(channel: number | 'mix', start: number, end: number, room?: Float32Array): Promise<Float32Array> {
    while (!this.#finished && this.length < end) await new Promise<void>((resolve) => this.#waiting.add(resolve));
    if (this.#failure) throw this.#failure;
    const count = Math.max(0, Math.min(end - start, this.length - start, room?.length ?? end));
    const samples = room ? room.subarray(0, count) : new Float32Array(count);
    // The bytes come to the end of the samples' own memory: no sample is written over before it has been read.
    const bytes = count * BYTES * this.channels;
    const from = samples.byteOffset + samples.byteLength - bytes;
    await this.#fill(new Uint8Array(samples.buffer, from, bytes), start * BYTES * this.channels);
    toFloats(new Int16Array(samples.buffer, from, count * this.channels), channel, samples);
    return samples;
  }

  async close(): Promise<void> {
    this.finish(new Error('the recording was closed'));
    await this.#file.close();
  }

  async #fill(buffer: Uint8Array, position: number): Promise<void> {
    for (let done = 0; done < buffer.length; ) {
      const { bytesRead } = await this.#file.read(buffer, done, buffer.length - done, position + done);
      if (!bytesRead) throw new Error(`Cannot read samples: the scratch file ended ${buffer.length - done} bytes early`);
      done += bytesRead;
    }
  }

  #wake(): void {
    const waiting = [...this.#waiting];
    this.#waiting.clear();
    for (const resume of waiting) resume();
  }
}

/** Writes `pcm`, one or two channels, as floats. */
function toFloats(pcm: Int16Array, channel: number | 'mix', samples: Float32Array): void {
  const { length } = samples;
  if (pcm.length === length) for (let i = 0; i < length; i++) samples[i] = pcm[i]! / 32768;
  else if (channel === 'mix') for (let i = 0; i < length; i++) samples[i] = (pcm[2 * i]! + pcm[2 * i + 1]!) / 65536;
  else for (let i = 0; i < length; i++) samples[i] = pcm[2 * i + channel]! / 32768;
}
