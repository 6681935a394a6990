import PQueue from 'p-queue';
import { MediaError, type Origin, type Recording, type Surround } from '../../types.ts';
import type { Track } from '../probe.ts';

const CONCURRENT_TRACKS = 4; // tracks decoded in parallel
const FATAL_CODES = new Set(['RECORDING_TOO_LONG', 'PROCESSING_TIMEOUT']); // codes that apply to the file, not to one track

interface Place {
  part: Recording;
  channel: number;
  track: Track;
}

/**
 * The tracks of one file as one recording: all channels in sequence, padded with silence to the longest track. If there are too many, the last
 * ones are mixed into others, the default track last.
 */
export class Tracks implements Recording {
  readonly channels: number;
  readonly length: number;
  readonly decoded: Promise<number>;
  readonly origins: readonly Origin[];
  readonly surround: readonly Surround[];
  #parts: readonly Recording[];
  #places: readonly (readonly Place[])[]; // that each channel is the mean of

  private constructor(parts: readonly Recording[], tracks: readonly Track[], most: number) {
    this.#parts = parts;
    const places = parts.flatMap((part, i) =>
      Array.from({ length: part.channels }, (_, channel) => ({ part, channel, track: tracks[i]! })),
    );
    this.#places = apart(places, most);
    this.origins = this.#places.map(([place]) => {
      const { index, default: chosen, language } = place!.track;
      return { track: index, default: chosen, language };
    });
    this.surround = parts.flatMap((part) => {
      const first = this.#places.findIndex(([place]) => place!.part === part);
      return (part.surround ?? []).map(({ channels, film }) => ({ channels: channels.map((channel) => first + channel), film }));
    });
    this.channels = this.#places.length;
    this.length = Math.max(...parts.map(({ length }) => length));
    this.decoded = Promise.resolve(this.length);
  }

  /** Decodes all tracks, to `most` channels. Failed ones are left out; if all fail, throws the most informative error. */
  static async decoded(tracks: readonly Track[], decode: (track: Track) => Promise<Recording>, most: number): Promise<Recording> {
    const parts: (Recording | undefined)[] = new Array(tracks.length);
    const failures: MediaError[] = [];
    const queue = new PQueue({ concurrency: CONCURRENT_TRACKS });
    const decodeOne = async (track: Track, i: number) => {
      const part = await decode(track);
      parts[i] = part;
      try {
        await part.decoded;
      } catch (error) {
        if (!(error instanceof MediaError) || FATAL_CODES.has(error.code)) throw error;
        failures.push(error);
        parts[i] = undefined;
        await part.close();
      }
    };
    const results = await Promise.allSettled(tracks.map((track, i) => queue.add(() => decodeOne(track, i))));
    const whole = parts.filter((part) => part !== undefined);
    const failed = results.find((result) => result.status === 'rejected');
    if (!failed && whole.length)
      return new Tracks(
        whole,
        tracks.filter((_, i) => parts[i]),
        most,
      );
    await Promise.all(whole.map((part) => part.close()));
    throw failed?.reason ?? failures.find(({ code }) => code === 'UNSUPPORTED_CODEC') ?? failures[0];
  }

  async read(channel: number | 'mix', start: number, end: number, room?: Float32Array): Promise<Float32Array> {
    const count = Math.max(0, Math.min(end - start, this.length - start, room?.length ?? end));
    const samples = (room ? room.subarray(0, count) : new Float32Array(count)).fill(0);
    const places = channel === 'mix' ? this.#places.flat() : this.#places[channel]!;
    for (const { part, channel } of places) {
      const one = await part.read(channel, start, start + count);
      for (let i = 0; i < one.length; i++) samples[i]! += one[i]! / places.length;
    }
    return samples;
  }

  async close(): Promise<void> {
    await Promise.all(this.#parts.map((part) => part.close()));
  }
}

/** Places that are to be a channel each, `most` of them, and the others mixed into those that are not of the default track. */
function apart(places: readonly Place[], most: number): Place[][] {
  const byImportance = places.toSorted((a, b) => Number(b.track.default) - Number(a.track.default));
  const chosen = new Set(byImportance.slice(0, most));
  const channels = places.filter((place) => chosen.has(place)).map((place) => [place]);
  const shared = channels.filter(([place]) => !place!.track.default);
  const into = shared.length ? shared : channels;
  for (const [i, place] of places.filter((place) => !chosen.has(place)).entries()) into[i % into.length]!.push(place);
  return channels;
}
