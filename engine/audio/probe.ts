import { resolve } from 'node:path';
import { text } from 'node:stream/consumers';
import { MediaError } from '../types.ts';
import { type Part, partsOf } from './containers/chain.ts';
import { isContinuous } from './containers/continuous.ts';
import { editedAway } from './containers/edits.ts';
import { isEncrypted } from './containers/encrypted.ts';
import { foreign } from './containers/foreign.ts';
import { goesOnAfterEnd } from './containers/waves.ts';
import { confined, within } from './ffmpeg/confine.ts';
import { type Listing, ListingReader, type Stream } from './ffmpeg/listing.ts';
import { findTools, type Tools } from './ffmpeg/tools.ts';

/** One audio stream of a file. */
export interface Track {
  /** Index among all streams of the file. */
  index: number;
  /** ffmpeg's name of the codec. */
  codec: string;
  /** Null: another layout, or unknown. */
  layout: 'mono' | 'stereo' | null;
  /** Surround sound: of a film, or declared by the layout. Null: mono, stereo, or no known layout. */
  surround: 'film' | 'declared' | null;
  /** Default track of players. */
  default: boolean;
  /** Code of the language that the container declares, or null. */
  language: string | null;
  /** Earliest timestamp of any stream in the container. */
  startSeconds: number;
  /** Timestamps may restart at any point, as in broadcasts and chained streams. */
  broadcast: boolean;
  /** Timestamps are frames counted at one rate: where it is wrong or changes, they run fast or slow, and nothing is missing. */
  counted: boolean;
  /** Found only by reading further than usual, which decoding has to repeat. */
  deep: boolean;
  /** An MP4 track of which its list of edits leaves nothing, so that decoding has to ignore the list. */
  unedited: boolean;
  /** A WAV track that goes on after its declared end, which decoding has to ignore. */
  unsized: boolean;
  /** Bytes of the file that has it, where several follow one another in one; null: the whole file. */
  part: Pick<Part, 'start' | 'end'> | null;
}

/** Properties that the container declares. Durations may be wrong: limits and charges are based on decoded samples. */
export interface Probe {
  durationSeconds: number | null;
  /** By content: 'video' if there is a real video stream; cover art is not. */
  mediaType: 'audio' | 'video';
  /** Tracks whose codec ffmpeg knows, of one part after the other; at least one. */
  tracks: Track[];
}

const PROBE_SECONDS = 30; // limit for crafted headers: ffmpeg's time is quadratic in the number of tags
export const PART_SECONDS = 1; // more for each of several files in one: starting ffmpeg takes 0.2 s
const UNKNOWN_CODECS = new Set(['', 'unknown', 'none']);
const UNKNOWN_CODEC = /codec not found|unknown codec|unsupported codec tag/i; // complaints about Ogg and AIFC, of which ffmpeg then lists no stream
const PICTURE_CODECS = new Set(['png', 'bmp', 'gif', 'tiff', 'webp', 'jpeg2000']); // a lone mjpeg stream is judged by its disposition
const BROADCAST_FORMATS = new Set(['mpegts', 'mpeg', 'ogg', 'flv', 'wtv']); // containers whose timestamps may restart
const MP4 = /\bmp4\b/; // and QuickTime
const COUNTED_FORMATS = new Set(['aac', 'loas', 'avi']); // without timestamps in the file
const HEADERLESS_FORMATS = new Set(['flv', 'mpeg']); // containers whose tracks show only in their first packets
const FILM_CODECS = new Set(['ac3', 'eac3', 'dts', 'truehd', 'mlp']); // of films and broadcasts, never used for calls
const FEW_CHANNELS = new Set(['', 'mono', 'stereo', 'downmix']);
const CENTRE_AND_LFE = /^(?!6\.1\(front\))[3-9]\.1/; // in this order, after left and right
export const DEEP_PROBE = ['-probesize', '100000000', '-analyzeduration', '600000000']; // bytes, held in memory, and microseconds

/**
 * Input options: open nothing but the file itself, no formats that refer to other files (playlists), and only audio decoders, so that
 * hostile pictures are never decoded. See docs/decisions/hostile-media.md.
 */
export function hardened({ decoders }: Pick<Tools, 'decoders'>): string[] {
  return [
    '-protocol_whitelist',
    'file',
    '-format_whitelist',
    'mov,mp4,m4a,3gp,3g2,mj2,matroska,webm,mp3,wav,w64,aac,loas,ogg,flac,amr,asf,aiff,au,caf,ac3,eac3,dts,wv,tta,ape,voc,gsm,rm,avi,flv,mpeg,mpegts,mpegvideo,mxf,dv,wtv',
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

/** The file as ffmpeg's input, or part of it. */
export function input(path: string, part: Track['part']): string[] {
  if (!part) return ['-i', `file:${path}`];
  return ['-protocol_whitelist', 'file,subfile', '-i', `subfile,,start,${part.start},end,${part.end},,:file:${path}`];
}

/**
 * Determines the kind of recording from the container alone. Throws MediaError: FILE_CORRUPTED, FILE_NO_AUDIO, UNSUPPORTED_CODEC,
 * PROCESSING_TIMEOUT.
 */
export async function probe(
  path: string,
  { signal, seconds = PROBE_SECONDS }: { signal?: AbortSignal; seconds?: number } = {},
): Promise<Probe> {
  const parts = await partsOf(path, signal);
  const probes: Probe[] = [];
  const failures: MediaError[] = [];
  const probeAll = async (signal?: AbortSignal) => {
    for (const part of parts) {
      try {
        probes.push(await probePart(path, part, parts.length > 1 || part.start > 0, { signal, seconds }));
      } catch (error) {
        if (!(error instanceof MediaError) || error.code === 'PROCESSING_TIMEOUT') throw error;
        failures.push(error);
      }
    }
  };
  await (parts.length > 1 ? within(seconds + parts.length * PART_SECONDS, signal, probeAll) : probeAll(signal));
  if (!probes.length) throw failures[0];
  const durations = probes.map(({ durationSeconds }) => durationSeconds);
  return {
    durationSeconds: durations.some((seconds) => seconds === null) ? null : durations.reduce((sum, seconds) => sum! + seconds!),
    mediaType: probes.some(({ mediaType }) => mediaType === 'video') ? 'video' : 'audio',
    tracks: probes.flatMap(({ tracks }) => tracks),
  };
}

async function probePart(
  path: string,
  { chained, ...bytes }: Part,
  joined: boolean,
  { signal, seconds }: { signal?: AbortSignal; seconds: number },
): Promise<Probe> {
  const part = joined ? bytes : null;
  let listing = await list(path, part, [], seconds, signal);
  const deep = isIncomplete(listing);
  if (deep) listing = await list(path, part, DEEP_PROBE, seconds, signal);
  const { streams, durationSeconds, complaint } = listing;
  const audio = streams.filter(({ type }) => type === 'audio');
  if (!streams.length) {
    const found = joined ? null : await foreign(path);
    if (!found && UNKNOWN_CODEC.test(complaint)) throw unknownCodec();
    const why = found?.message ?? (complaint || 'it contains no streams');
    throw new MediaError(found?.recording ? 'UNSUPPORTED_CODEC' : 'FILE_CORRUPTED', `Cannot read the file as media: ${why}`);
  }
  if (!audio.length) throw new MediaError('FILE_NO_AUDIO', 'Cannot transcribe the file: it has no audio stream');
  const known = audio.filter(({ codec }) => !UNKNOWN_CODECS.has(codec));
  if (!known.length) throw unknownCodec();
  if (MP4.test(listing.format) && (await isEncrypted(path, bytes))) {
    throw new MediaError('UNSUPPORTED_CODEC', 'Cannot decode the audio stream: it is encrypted (DRM). Upload a file without encryption');
  }
  const away = MP4.test(listing.format) ? await editedAway(path, bytes) : null;
  const unsized = listing.format === 'wav' && (await goesOnAfterEnd(path, bytes));
  const restarts = listing.format === 'ogg' ? chained : !(await isContinuous(path, listing.format, bytes, signal));
  const broadcast = BROADCAST_FORMATS.has(listing.format) && restarts;
  const pictures = streams.some(({ type, codec, cover }) => type === 'video' && !cover && !PICTURE_CODECS.has(codec));
  return {
    durationSeconds: unsized ? null : durationSeconds,
    mediaType: pictures ? 'video' : 'audio',
    tracks: known.map((stream) => toTrack(stream, listing, { broadcast, deep, part, unsized, unedited: Boolean(away?.has(stream.index)) })),
  };
}

function unknownCodec(): MediaError {
  return new MediaError('UNSUPPORTED_CODEC', 'Cannot decode the audio stream: its codec is unknown. Convert the file, for example to FLAC');
}

function toTrack(
  { index, codec, layout, default: chosen, language }: Stream,
  { format, startSeconds }: Listing,
  file: Pick<Track, 'broadcast' | 'deep' | 'part' | 'unedited' | 'unsized'>,
): Track {
  return {
    index,
    codec,
    layout: layout === 'mono' || layout === 'stereo' ? layout : null,
    surround: surroundOf(codec, layout),
    default: chosen,
    language,
    counted: COUNTED_FORMATS.has(format),
    startSeconds: file.unedited ? 0 : startSeconds,
    ...file,
  };
}

/** Surround sound: more than two channels in a codec of films, or a layout with a front centre and low frequencies, as 5.1 and 7.1 have. */
function surroundOf(codec: string, layout: string): Track['surround'] {
  if (FILM_CODECS.has(codec) && !FEW_CHANNELS.has(layout)) return 'film';
  return CENTRE_AND_LFE.test(layout) ? 'declared' : null;
}

/** Whether the first megabytes had no packet of an audio stream: a broadcast, a live stream or a DVD may begin with many pictures. */
function isIncomplete({ format, streams }: Listing): boolean {
  const audio = streams.filter(({ type }) => type === 'audio');
  if (!audio.length) return streams.length > 0 && HEADERLESS_FORMATS.has(format);
  return audio.some(({ codec, layout }) => !layout && !UNKNOWN_CODECS.has(codec));
}

/** Runs `ffmpeg -i` without an output: it lists the streams on standard error, opens no decoder, and exits with an error. */
async function list(path: string, part: Track['part'], options: string[], seconds: number, signal?: AbortSignal): Promise<Listing> {
  const tools = await findTools();
  const args = ['-hide_banner', '-nostdin', ...hardened(tools), ...options, ...input(resolve(path), part)];
  const reader = new ListingReader();
  const limits = { seconds, silence: seconds, signal, listener: (text: string) => reader.push(text) };
  const run = await confined(tools.ffmpeg, args, resolve(path), limits);
  await Promise.all([text(run.stdout), run.ended]);
  return reader.listing();
}
