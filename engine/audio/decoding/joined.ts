import { MediaError, type Recording, SAMPLE_RATE } from '../../types.ts';
import { MIN_SECONDS, tooLong, tooShort } from './track.ts';

const FATAL_CODES = new Set(['RECORDING_TOO_LONG', 'PROCESSING_TIMEOUT']); // codes that apply to the whole file

/** Recordings one after the other as one, with the channels that most of it has; those with other channels are mixed. */
export class Joined implements Recording {
  readonly channels: number;
  readonly length: number;
  readonly decoded: Promise<number>;
  readonly origins: Recording['origins'];
  readonly surround: Recording['surround'];
  readonly mixes: Recording['mixes'];
  #parts: readonly Recording[];

  private constructor(parts: readonly Recording[]) {
    const typical = typicalOf(parts);
    this.#parts = parts;
    this.channels = typical.channels;
    this.origins = typical.origins;
    this.surround = typical.surround;
    this.length = samplesOf(parts);
    this.mixes = parts.flatMap(({ channels, length }, i) => {
      const start = samplesOf(parts.slice(0, i));
      return channels === this.channels ? [] : { start, end: start + length };
    });
    this.decoded = Promise.resolve(this.length);
  }

  /**
   * Decodes all parts. Failed ones are left out; if all fail, throws the first error.
   * @param decode decodes part `i`, which may be as short as it is, but not longer than `maxSeconds`
   */
  static async decoded(
    count: number,
    maxSeconds: number,
    decode: (i: number, maxSeconds: number) => Promise<Recording>,
  ): Promise<Recording> {
    const parts: Recording[] = [];
    let [left, failure]: [number, unknown] = [maxSeconds, null];
    try {
      for (let i = 0; i < count; i++) {
        let part: Recording | undefined;
        try {
          part = await decode(i, left);
          left -= (await part.decoded) / SAMPLE_RATE;
          parts.push(part);
        } catch (error) {
          await part?.close();
          if (!(error instanceof MediaError) || FATAL_CODES.has(error.code)) throw error;
          failure ??= error;
        }
      }
      if (!parts.length) throw failure;
      if (maxSeconds - left < MIN_SECONDS) throw tooShort(maxSeconds - left);
      return new Joined(parts);
    } catch (error) {
      await Promise.all(parts.map((part) => part.close()));
      throw error instanceof MediaError && error.code === 'RECORDING_TOO_LONG' ? tooLong(maxSeconds) : error;
    }
  }

  async read(channel: number | 'mix', start: number, end: number, room?: Float32Array): Promise<Float32Array> {
    const count = Math.max(0, Math.min(end - start, this.length - start, room?.length ?? end));
    const samples = room ? room.subarray(0, count) : new Float32Array(count);
    let first = 0; // sample of the part
    for (const part of this.#parts) {
      const from = Math.max(start, first);
      const to = Math.min(start + count, first + part.length);
      const own = part.channels === this.channels ? channel : 'mix';
      if (from < to) samples.set(await part.read(own, from - first, to - first), from - start);
      first += part.length;
    }
    return samples;
  }

  async close(): Promise<void> {
    await Promise.all(this.#parts.map((part) => part.close()));
  }
}

function samplesOf(parts: readonly Recording[]): number {
  return parts.reduce((sum, { length }) => sum + length, 0);
}

/** The first recording with the number of channels that most of the time has; of two such numbers the higher one. */
function typicalOf(parts: readonly Recording[]): Recording {
  const like = ({ channels }: Recording) => samplesOf(parts.filter((part) => part.channels === channels));
  return parts.toSorted((a, b) => like(b) - like(a) || b.channels - a.channels)[0]!;
}
