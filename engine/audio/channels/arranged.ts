import type { Recording } from '../../types.ts';
import { withoutMixes } from './mixes.ts';
import type { Party } from './parties.ts';

/** A recording with one channel per party. What all channels have alike, because a file within the file has fewer, is the first party's. */
export function arranged(recording: Recording, parties: readonly Party[]): Recording {
  if (recording.channels === 1) return recording;
  const others = withoutMixes(recording);
  const mean = async (recording: Recording, channels: readonly number[], start: number, end: number, room?: Float32Array) => {
    if (channels.length === 1) return recording.read(channels[0]!, start, end, room);
    if (channels.length === recording.channels) return recording.read('mix', start, end, room);
    const parts = await Promise.all(channels.map((channel) => recording.read(channel, start, end)));
    const count = Math.min(parts[0]!.length, room?.length ?? end);
    const samples = (room ?? new Float32Array(count)).subarray(0, count).fill(0);
    for (const part of parts) for (let i = 0; i < count; i++) samples[i]! += part[i]! / parts.length;
    return samples;
  };
  return {
    channels: parties.length,
    origins: recording.origins && parties.map(([first]) => recording.origins![first!]!),
    get length() {
      return recording.length;
    },
    decoded: recording.decoded,
    read: (channel, start, end, room) =>
      channel === 'mix'
        ? mean(recording, parties.flat(), start, end, room)
        : mean(channel ? others : recording, parties[channel]!, start, end, room),
    close: () => recording.close(),
  };
}
