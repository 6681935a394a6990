import { resolve } from 'node:path';
import { MediaError, SAMPLE_RATE } from '../../types.ts';
import { MatroskaReader } from '../containers/matroska.ts';
import { type Confined, confined } from '../ffmpeg/confine.ts';
import { firstLine } from '../ffmpeg/listing.ts';
import { findTools, type Tools } from '../ffmpeg/tools.ts';
import { DEEP_PROBE, hardened, input, type Track } from '../probe.ts';
import { Clock, type Placed } from './clock.ts';
import { openScratch, Scratch } from './scratch.ts';
import { Stamps, stamped } from './stamps.ts';

export const MIN_SECONDS = 1; // shortest audio that is accepted
const SILENCE_TIMEOUT_SECONDS = 30; // without output, before ffmpeg counts as stuck
const CLOCK_RESET_SECONDS = 600; // a longer jump in a broadcast is a clock reset, not a pause

export interface TrackOptions {
  /** Tracks with more channels are downmixed to this many, surround sound to mono. */
  mostChannels: number;
  /** Longest accepted recording, seconds; measured in samples. */
  maxSeconds: number;
  /** Shortest accepted track; by default MIN_SECONDS. */
  minSeconds?: number;
  signal?: AbortSignal;
  /** Called with the seconds decoded so far. */
  onProgress?: (seconds: number) => void;
  /** Folder of the unlinked scratch file. */
  scratch?: string;
}

/** Decodes one track. Resolves when its channels are known or decoding failed; then `decoded` of the result rejects. */
export async function decodeTrack(path: string, track: Track, options: TrackOptions): Promise<Scratch> {
  const tools = await findTools();
  const { maxSeconds, signal } = options;
  const file = await openScratch(options.scratch);
  try {
    const limits = { seconds: patience(maxSeconds), silence: SILENCE_TIMEOUT_SECONDS, signal };
    const run = await confined(tools.ffmpeg, argumentsFor(resolve(path), track, tools), resolve(path), limits);
    return await new Promise((open) => {
      let scratch: Scratch | undefined;
      const opened = (channels: number) => {
        scratch ??= new Scratch(file, channels, track.surround);
        open(scratch);
        return scratch;
      };
      fill(run, opened, track, options).then(
        (scratch) => scratch.finish(),
        (error: Error) => opened(1).finish(error),
      );
    });
  } catch (error) {
    await file.close();
    throw error;
  }
}

/** Seconds that decoding may take. */
export function patience(maxSeconds: number): number {
  return Math.max(120, 0.2 * maxSeconds);
}

function argumentsFor(path: string, { index, codec, layout, startSeconds, deep, unedited, unsized, part }: Track, tools: Tools): string[] {
  const decoder = codec === 'speex' && tools.libspeex ? [`-c:${index}`, 'libspeex'] : [];
  const options = [
    ...(deep ? DEEP_PROBE : []),
    ...(unedited ? ['-ignore_editlist', '1'] : []),
    ...(unsized ? ['-ignore_length', '1'] : []),
  ];
  return [
    ...['-hide_banner', '-v', 'error', '-nostdin', '-copyts'],
    ...hardened(tools),
    ...['-threads', '1', ...decoder, ...options, ...input(path, part), '-map', `0:${index}`, '-af', filters(layout)],
    ...['-map_metadata', '-1', '-map_chapters', '-1', '-c:a', 'pcm_f32le', ...stamped(startSeconds), '-f', 'matroska', 'pipe:1'],
  ];
}

/** Filters for 16 kHz output. Channels are kept; a file that switches between mono and stereo keeps the layout it began with. */
function filters(layout: Track['layout']): string {
  return `aformat=sample_fmts=flt:sample_rates=${SAMPLE_RATE}${layout ? `:channel_layouts=${layout}` : ''}`;
}

/** Moves frames from the decoder to the scratch file, each to its position, until either ends, then judges the outcome. */
async function fill(
  run: Confined,
  opened: (channels: number) => Scratch,
  { broadcast, counted, surround }: Track,
  options: TrackOptions,
): Promise<Scratch> {
  const { maxSeconds, minSeconds = MIN_SECONDS, mostChannels, onProgress } = options;
  const reader = new MatroskaReader();
  const stamps = new Stamps();
  const clock = new Clock(maxSeconds * SAMPLE_RATE, broadcast ? CLOCK_RESET_SECONDS * SAMPLE_RATE : undefined, counted);
  let [channels, sound] = [0, 0];
  let scratch: Scratch | undefined;
  const place = async ({ silence, skip, count, samples }: Placed) => {
    if (silence) await scratch!.appendSilence(silence);
    await scratch!.append(mixed(samples.subarray(skip * channels), channels, scratch!.channels));
    sound += count - skip;
    if (scratch!.taken > maxSeconds * SAMPLE_RATE) throw tooLong(maxSeconds);
  };
  try {
    for await (const bytes of run.stdout) {
      run.alive();
      for (const event of reader.push(bytes as Buffer)) {
        if ('channels' in event) {
          channels = event.channels;
          scratch = opened(channels > mostChannels && surround ? 1 : Math.min(channels, mostChannels));
        } else for (const placed of clock.push(stamps.frame(event, channels))) await place(placed);
      }
      onProgress?.((scratch?.taken ?? 0) / SAMPLE_RATE);
    }
    for (const placed of clock.end()) await place(placed);
  } catch (error) {
    run.stop(error as Error);
    await run.ended; // rejects: a timeout or an abort is a better explanation than the broken pipe
    throw error;
  }
  const { code } = await run.ended;
  if (!scratch || !sound || sound < minSeconds * SAMPLE_RATE) throw unusable(sound / SAMPLE_RATE, code, run.complaints());
  return scratch;
}

/** Sample frames with all channels, or downmixed: neighbours, which may be in opposite phase, to different channels. */
function mixed(samples: Float32Array, channels: number, wanted: number): Float32Array {
  if (channels === wanted) return samples;
  const mix = new Float32Array((samples.length / channels) * wanted);
  for (let to = 0, from = 0; to < mix.length; to += wanted) {
    for (let channel = 0; channel < channels; channel++) mix[to + (channel % wanted)]! += samples[from++]!;
    for (let channel = 0; channel < wanted; channel++) mix[to + channel]! /= Math.ceil((channels - channel) / wanted);
  }
  return mix;
}

export function tooLong(maxSeconds: number): MediaError {
  return new MediaError('RECORDING_TOO_LONG', `Cannot transcribe the recording: it is longer than ${maxSeconds / 3600} hours. Split it`);
}

export function tooShort(seconds: number): MediaError {
  return new MediaError(
    'RECORDING_TOO_SHORT',
    `Cannot transcribe the recording: it lasts ${Math.floor(seconds * 100) / 100} s; the minimum is ${MIN_SECONDS} s`,
  );
}

const UNSUPPORTED =
  /decoder .*not found|unknown decoder|no decoder|decoder \(codec|not (?:yet )?implemented|patchwelcome|unsupported(?! huge granule)|not supported|experimental codecs|\[amr\w+ @ \w+\] too many channels/i;

/** Why a file yielded less than a second of audio. */
function unusable(seconds: number, code: number | null, complaints: string): MediaError {
  const why = firstLine(complaints);
  if (/matches no streams|does not contain any stream/i.test(complaints)) {
    return new MediaError('FILE_NO_AUDIO', 'Cannot transcribe the file: it has no audio stream');
  }
  if (UNSUPPORTED.test(complaints)) {
    return new MediaError('UNSUPPORTED_CODEC', `Cannot decode the audio stream: ${why}. Convert the file, for example to FLAC`);
  }
  if (code === 0 && !why && seconds > 0) return tooShort(seconds);
  return new MediaError('FILE_CORRUPTED', `Cannot decode the file: ${why || 'no audio could be decoded'}`);
}
