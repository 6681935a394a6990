import { resolve } from 'node:path';
import { text } from 'node:stream/consumers';
import { MediaError } from '../types.ts';
import { confined } from './confine.ts';
import { findTools } from './tools.ts';

/** What the container says about itself. Durations may lie: limits and charges follow decoded samples. */
export interface Probe {
  durationSeconds: number | null;
  /** By content: 'video' when a real picture stream exists; cover art is not one. */
  mediaType: 'audio' | 'video';
  audioStreams: number;
  /** Channels of the first audio stream. */
  channels: number;
  /** ffmpeg's name of the first audio stream's codec. */
  codec: string;
  /** By how much its sound begins after the pictures; 0 where there is only ffmpeg to ask. */
  lateSeconds: number;
}

interface Stream {
  type: string;
  codec: string;
  channels: number;
  cover: boolean;
}

const SECONDS = 30; // for a file whose head was made to be read without end: thousands of tags take ffmpeg the square of their number
const UNKNOWN = new Set(['', 'unknown', 'none']); // codecs
const STILLS = new Set(['png', 'bmp', 'gif', 'tiff', 'webp', 'jpeg2000']); // codecs of pictures; a lone mjpeg counts by its disposition

const FURTHER = ['-probesize', '100000000', '-analyzeduration', '600000000']; // bytes, which it holds in memory, and microseconds
const LATE = 0.1; // seconds: nobody sees less
const LATEST = 3600; // seconds: more is a broken clock
const LOOKING = 10; // seconds of looking for the first sound: a film may be read for it to its end

/** Opens nothing but the file itself and no format that points at other files (playlists). See docs/decisions/hostile-media.md. */
export const HARDENED = [
  '-protocol_whitelist',
  'file',
  '-format_whitelist',
  'mov,mp4,m4a,3gp,3g2,mj2,matroska,webm,mp3,wav,w64,aac,ogg,flac,amr,asf,aiff,au,caf,ac3,eac3,dts,wv,tta,ape,voc,gsm,rm,avi,flv,mpeg,mpegts,mpegvideo,mxf,dv,wtv',
  '-max_alloc',
  '268435456',
  '-max_streams',
  '256',
];

/**
 * Reads what kind of recording a file holds.
 * Throws MediaError: FILE_CORRUPTED, FILE_NO_AUDIO, UNSUPPORTED_CODEC, PROCESSING_TIMEOUT.
 */
export async function probe(path: string, { signal, seconds = SECONDS }: { signal?: AbortSignal; seconds?: number } = {}): Promise<Probe> {
  const tools = await findTools();
  const ask = (options: string[] = []) =>
    tools.ffprobe ? askProbe(tools.ffprobe, path, options, seconds, signal) : askDecoder(tools.ffmpeg, path, options, seconds, signal);
  let answer = await ask();
  if (answer.streams.some(unheard)) answer = await ask(FURTHER);
  const { streams, durationSeconds, complaints } = answer;
  const audio = streams.filter((stream) => stream.type === 'audio');
  const [first] = audio;
  if (!streams.length)
    throw new MediaError('FILE_CORRUPTED', `Cannot read the file as media: ${complaints || 'no stream was found in it'}`);
  if (!first) throw new MediaError('FILE_NO_AUDIO', 'Cannot transcribe the file: it has no audio stream');
  if (UNKNOWN.has(first.codec)) {
    throw new MediaError(
      'UNSUPPORTED_CODEC',
      'Cannot decode the audio stream: its codec is unknown. Convert the file, for example to FLAC',
    );
  }
  if (!first.channels) throw new MediaError('FILE_CORRUPTED', `Cannot read the audio stream: ${complaints || 'it states no channels'}`);
  const pictures = streams.some((stream) => stream.type === 'video' && !stream.cover && !STILLS.has(stream.codec));
  return {
    durationSeconds,
    mediaType: pictures ? 'video' : 'audio',
    audioStreams: audio.length,
    channels: first.channels,
    codec: first.codec,
    lateSeconds: pictures && tools.ffprobe ? await lateness(tools.ffprobe, path, signal) : 0,
  };
}

/** Whether a stream of sound is announced of which nothing came yet: a broadcast may begin with many pictures. */
function unheard({ type, codec, channels }: Stream): boolean {
  return type === 'audio' && !channels && !UNKNOWN.has(codec);
}

interface Answer {
  streams: Stream[];
  durationSeconds: number | null;
  complaints: string;
}

async function askProbe(ffprobe: string, path: string, options: string[], seconds: number, signal?: AbortSignal): Promise<Answer> {
  const entries = 'format=duration:stream=codec_type,codec_name,channels,duration:stream_disposition=attached_pic';
  const args = [
    '-hide_banner',
    '-v',
    'error',
    ...HARDENED,
    ...options,
    '-show_entries',
    entries,
    '-of',
    'json',
    '-i',
    `file:${resolve(path)}`,
  ];
  const run = await confined(ffprobe, args, resolve(path), { seconds, silence: seconds, signal });
  const [json] = await Promise.all([text(run.child.stdout), run.ended]);
  const answer = parse(json);
  const streams = (answer.streams ?? []).map((stream) => ({
    type: stream.codec_type ?? '',
    codec: stream.codec_name ?? '',
    channels: stream.channels ?? 0,
    cover: stream.disposition?.attached_pic === 1,
  }));
  const declared = [answer.format?.duration, ...(answer.streams ?? []).map((stream) => stream.duration)]
    .map(Number)
    .find((seconds) => seconds > 0);
  return { streams, durationSeconds: declared ?? null, complaints: firstLine(run.complaints()) };
}

/** Seconds from the start of the recording to its first packet of sound. What a container declares of that is often not read before its packets. */
async function lateness(ffprobe: string, path: string, signal?: AbortSignal): Promise<number> {
  const first = ['-select_streams', 'a:0', '-read_intervals', '%+#1', '-show_entries', 'format=start_time:packet=pts_time'];
  const args = ['-hide_banner', '-v', 'error', ...HARDENED, ...first, '-of', 'json', '-i', `file:${resolve(path)}`];
  try {
    const run = await confined(ffprobe, args, resolve(path), { seconds: LOOKING, silence: LOOKING, signal });
    const [json] = await Promise.all([text(run.child.stdout), run.ended]);
    const { packets, format } = parse(json);
    const late = Number(packets?.[0]?.pts_time) - Number(format?.start_time);
    return late >= LATE && late <= LATEST ? late : 0;
  } catch (error) {
    if (error instanceof MediaError) return 0; // it took too long
    throw error;
  }
}

interface ProbeJson {
  format?: { duration?: string; start_time?: string };
  packets?: { pts_time?: string }[];
  streams?: { codec_type?: string; codec_name?: string; channels?: number; duration?: string; disposition?: { attached_pic?: number } }[];
}

function parse(json: string): ProbeJson {
  try {
    return JSON.parse(json) as ProbeJson;
  } catch {
    return {};
  }
}

/** `ffmpeg -i` without an output: it lists the streams on standard error and ends with an error of its own. */
async function askDecoder(ffmpeg: string, path: string, options: string[], seconds: number, signal?: AbortSignal): Promise<Answer> {
  const run = await confined(ffmpeg, ['-hide_banner', '-nostdin', ...HARDENED, ...options, '-i', `file:${resolve(path)}`], resolve(path), {
    seconds,
    silence: seconds,
    signal,
  });
  await Promise.all([text(run.child.stdout), run.ended]);
  return readListing(run.complaints());
}

const CHANNELS: Record<string, number> = {
  mono: 1,
  stereo: 2,
  downmix: 2,
  quad: 4,
  '2.1': 3,
  '4.0': 4,
  '5.0': 5,
  '5.1': 6,
  '6.1': 7,
  '7.1': 8,
};

/** Reads ffmpeg's listing of streams: `Stream #0:1(und): Audio: aac (LC), 44100 Hz, stereo, fltp`. */
export function readListing(listing: string): Answer {
  const streams: Stream[] = [];
  for (const [line, type = '', codec = ''] of listing.matchAll(/^\s*Stream #\S+: (Audio|Video|Subtitle|Data|Attachment): (\w+).*$/gm)) {
    const layout = /Hz, ([\w.]+)/.exec(line)?.[1] ?? '';
    const channels = CHANNELS[layout] ?? Number(/(\d+) channels/.exec(line)?.[1] ?? 0);
    streams.push({
      type: type.toLowerCase(),
      codec,
      channels: channels || (type === 'Audio' && layout ? 2 : 0),
      cover: line.includes('(attached pic)'),
    });
  }
  const [, hours, minutes, seconds] = /Duration: (\d+):(\d\d):(\d\d\.\d+)/.exec(listing) ?? [];
  const durationSeconds = hours === undefined ? null : Number(hours) * 3600 + Number(minutes) * 60 + Number(seconds);
  const complaint = listing.split('\n').find((line) => /invalid|error|not found|could not/i.test(line)) ?? '';
  return { streams, durationSeconds, complaints: complaint.trim() };
}

/** The first thing ffmpeg complained of, without addresses in memory and without the path of the file. */
export function firstLine(complaints: string): string {
  const line = complaints.split('\n').find((line) => line.trim()) ?? '';
  return line
    .replace(/\[\S+ @ 0x[0-9a-f]+\] /g, '')
    .replace(/file:\S*: /, '')
    .trim();
}
