import type { Recording } from '../types.ts';
import { Joined } from './decoding/joined.ts';
import { decodeTrack, patience, type TrackOptions } from './decoding/track.ts';
import { Tracks } from './decoding/tracks.ts';
import { within } from './ffmpeg/confine.ts';
import { PART_SECONDS, probe, type Track } from './probe.ts';

export { findTools, type Tools } from './ffmpeg/tools.ts';
export { type Probe, probe, type Track } from './probe.ts';

const MAX_CHANNELS = 16; // maximum number of channels kept separate, over all tracks
const MAX_TRACKS = 64; // that are decoded
const MANY_TRACKS = 4; // times the limit of one track: that of more than 16, together

export interface DecodeOptions extends Partial<Omit<TrackOptions, 'mostChannels'>> {
  /** From a probe; without them the file is probed. */
  tracks?: readonly Track[];
}

/**
 * Decodes up to 64 audio tracks of any media file to 16 kHz samples: all channels in sequence, downmixed to 16 if there are more. Resolves
 * when decoding has begun: `read` waits for samples still to come, `decoded` for all of them. Several tracks, and several files in one, are all decoded before it
 * resolves. Whatever can be decoded of a damaged file is kept, from one second on; a broken track does not affect the others. It, `read`
 * and `decoded` throw MediaError FILE_CORRUPTED, FILE_NO_AUDIO, UNSUPPORTED_CODEC, RECORDING_TOO_SHORT, RECORDING_TOO_LONG,
 * PROCESSING_TIMEOUT, the reason of an abort, or an Error other than MediaError if the file is not at fault. The caller closes the
 * recording in every case.
 */
export async function decode(path: string, options: DecodeOptions = {}): Promise<Recording> {
  const { maxSeconds = 36_000, signal } = options;
  const all = options.tracks ?? (await probe(path, { signal })).tracks;
  const starts = [...new Set(all.map(({ part }) => part?.start))];
  const parts = starts.map((start) => all.filter(({ part }) => part?.start === start));
  const [only, ...others] = parts;
  if (!others.length) return decodePart(path, only!, { ...options, maxSeconds });
  return within(patience(maxSeconds) + parts.length * PART_SECONDS, signal, (signal) =>
    Joined.decoded(parts.length, maxSeconds, (i, left) =>
      decodePart(path, parts[i]!, { ...options, signal, maxSeconds: left, minSeconds: 0 }),
    ),
  );
}

async function decodePart(path: string, all: readonly Track[], options: Omit<TrackOptions, 'mostChannels'>): Promise<Recording> {
  const chosen = all.toSorted((a, b) => Number(b.default) - Number(a.default)).slice(0, MAX_TRACKS);
  const tracks = chosen.toSorted((a, b) => a.index - b.index);
  const mostChannels = Math.max(1, Math.floor(MAX_CHANNELS / tracks.length));
  const one = (track: Track, signal = options.signal) => decodeTrack(path, track, { ...options, signal, mostChannels });
  if (tracks.length === 1) return one(tracks[0]!);
  if (tracks.length <= MAX_CHANNELS) return Tracks.decoded(tracks, one, MAX_CHANNELS);
  return within(MANY_TRACKS * patience(options.maxSeconds), options.signal, (signal) =>
    Tracks.decoded(tracks, (track) => one(track, signal), MAX_CHANNELS),
  );
}
