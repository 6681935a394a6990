import { type Recording, SAMPLE_RATE } from '../../types.ts';

export const BLOCK_SAMPLES = 30 * SAMPLE_RATE;

type Channel = number | 'mix';

/** How a recording is cleaned, block by block. */
export interface Cleaning<T> {
  /** Finds what is to be removed from the block that starts at sample `start`; called once for each block of each channel that is read. */
  find(read: (start: number, end: number) => Promise<Float32Array>, start: number): Promise<T>;
  /** Removes that, in place, from the samples of a block that start at `from`. */
  remove(samples: Float32Array, found: T, recording: Recording, channel: Channel, from: number): void | Promise<void>;
}

/** A recording that is cleaned as it is read. */
export function cleaned<T>(recording: Recording, { find, remove }: Cleaning<T>): Recording {
  const known = new Map<string, Promise<T>>();
  const foundIn = (channel: Channel, block: number) => {
    const key = `${channel} ${block}`;
    const found = known.get(key) ?? find((start, end) => recording.read(channel, start, end), block * BLOCK_SAMPLES);
    known.set(key, found);
    return found;
  };
  return {
    ...{ channels: recording.channels, origins: recording.origins, surround: recording.surround, mixes: recording.mixes },
    get length() {
      return recording.length;
    },
    decoded: recording.decoded,
    close: () => recording.close(),
    read: async (channel, start, end, room) => {
      const samples = await recording.read(channel, start, end, room);
      const until = start + samples.length;
      for (let from = start; from < until; ) {
        const block = Math.floor(from / BLOCK_SAMPLES);
        const to = Math.min(until, (block + 1) * BLOCK_SAMPLES);
        await remove(samples.subarray(from - start, to - start), await foundIn(channel, block), recording, channel, from);
        from = to;
      }
      return samples;
    },
  };
}
