import type { Recording } from '../../types.ts';

/** A recording that is silent where all channels have the same mix. */
export function withoutMixes(recording: Recording): Recording {
  const { mixes, channels, origins, surround, length, decoded } = recording;
  if (!mixes?.length) return recording;
  return {
    ...{ channels, origins, surround, length, decoded },
    close: () => recording.close(),
    read: async (channel, start, end, room) => {
      const samples = await recording.read(channel, start, end, room);
      for (const mix of mixes) if (mix.start < end && mix.end > start) samples.fill(0, Math.max(0, mix.start - start), mix.end - start);
      return samples;
    },
  };
}
