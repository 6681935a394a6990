import { resolve } from 'node:path';
import { text } from 'node:stream/consumers';
import { MediaError } from '../types.ts';
import { confined } from './confine.ts';
import { type Listing, ListingReader, type Stream } from './listing.ts';
import { findTools, type Tools } from './tools.ts';

/** One audio stream of a file. */
export interface Track {
  /** Its index among all streams of the file. */
  index: number;
  /** ffmpeg's name of its codec. */
  codec: string;
  /** Null: some other layout, or none. */
  layout: 'mono' | 'stereo' | null;
  /** Players take it unless they are told otherwise. */
  default: boolean;
  /** As declared; null where it is not. */
  language: string | null;
  /** Time at which the container begins, with whichever stream. */
  startSeconds: number;
  /** The container's clock may be set anew at any time, as in broadcasts and chained streams. */
  broadcast: boolean;
}

/** What the container says about itself. Durations may lie: limits and charges follow decoded samples. */
export interface Probe {
  durationSeconds: number | null;
  /** By content: 'video' when a real picture stream exists; cover art is not one. */
  mediaType: 'audio' | 'video';
  /** Those whose codec ffmpeg knows, at least one. */
  tracks: Track[];
}

const SECONDS = 30; // for a file whose head was made to be read without end: thousands of tags take ffmpeg the square of their number
const UNKNOWN = new Set(['', 'unknown', 'none']); // codecs
const STILLS = new Set(['png', 'bmp', 'gif', 'tiff', 'webp', 'jpeg2000']); // codecs of pictures; a lone mjpeg counts by its disposition
const BROADCASTS = new Set(['mpegts', 'mpeg', 'ogg', 'flv', 'wtv']); // containers
const FURTHER = ['-probesize', '100000000', '-analyzeduration', '600000000']; // bytes, which it holds in memory, and microseconds

/**
 * Options of an input: nothing is opened but the file itself, no format that points at other files (playlists), and no decoder of anything but sound, so that
 * hostile pictures are never decoded. See docs/decisions/hostile-media.md.
 */
export function hardened({ decoders }: Pick<Tools, 'decoders'>): string[] {
  return [
    '-protocol_whitelist',
    'file',
    '-format_whitelist',
    'mov,mp4,m4a,3gp,3g2,mj2,matroska,webm,mp3,wav,w64,aac,ogg,flac,amr,asf,aiff,au,caf,ac3,eac3,dts,wv,tta,ape,voc,gsm,rm,avi,flv,mpeg,mpegts,mpegvideo,mxf,dv,wtv',
    '-codec_whitelist',
    decoders,
    '-max_alloc',
    '268435456',
    '-max_streams',
    '256',
    '-vn',
    '-sn',
    '-dn',
  ];
}

/**
 * Reads what kind of recording a file holds, from its container alone.
 * Throws MediaError: FILE_CORRUPTED, FILE_NO_AUDIO, UNSUPPORTED_CODEC, PROCESSING_TIMEOUT.
 */
export async function probe(path: string, { signal, seconds = SECONDS }: { signal?: AbortSignal; seconds?: number } = {}): Promise<Probe> {
  let listing = await list(path, [], seconds, signal);
  if (listing.streams.some(unheard)) listing = await list(path, FURTHER, seconds, signal);
  const { streams, durationSeconds, complaint } = listing;
  const audio = streams.filter(({ type }) => type === 'audio');
  if (!streams.length) throw new MediaError('FILE_CORRUPTED', `Cannot read the file as media: ${complaint || 'no stream was found in it'}`);
  if (!audio.length) throw new MediaError('FILE_NO_AUDIO', 'Cannot transcribe the file: it has no audio stream');
  const known = audio.filter(({ codec }) => !UNKNOWN.has(codec));
  if (!known.length) {
    throw new MediaError(
      'UNSUPPORTED_CODEC',
      'Cannot decode the audio stream: its codec is unknown. Convert the file, for example to FLAC',
    );
  }
  const pictures = streams.some(({ type, codec, cover }) => type === 'video' && !cover && !STILLS.has(codec));
  return {
    durationSeconds,
    mediaType: pictures ? 'video' : 'audio',
    tracks: known.map((stream) => toTrack(stream, listing)),
  };
}

function toTrack({ index, codec, layout, default: chosen, language }: Stream, { format, startSeconds }: Listing): Track {
  return {
    index,
    codec,
    layout: layout === 'mono' || layout === 'stereo' ? layout : null,
    default: chosen,
    language,
    startSeconds,
    broadcast: BROADCASTS.has(format),
  };
}

/** Whether a stream of sound is announced of which nothing came yet: a broadcast may begin with many pictures. */
function unheard({ type, codec, layout }: Stream): boolean {
  return type === 'audio' && !layout && !UNKNOWN.has(codec);
}

/** `ffmpeg -i` without an output: it lists the streams on standard error, opens none of them, and ends with an error of its own. */
async function list(path: string, options: string[], seconds: number, signal?: AbortSignal): Promise<Listing> {
  const tools = await findTools();
  const args = ['-hide_banner', '-nostdin', ...hardened(tools), ...options, '-i', `file:${resolve(path)}`];
  const run = await confined(tools.ffmpeg, args, resolve(path), { seconds, silence: seconds, signal });
  const reader = new ListingReader();
  run.child.stderr.on('data', (text: string) => reader.push(text));
  await Promise.all([text(run.child.stdout), run.ended]);
  return reader.listing();
}
