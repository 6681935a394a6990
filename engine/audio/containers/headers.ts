import type { FileHandle } from 'node:fs/promises';
import { tracksOf } from './matroska-tracks.ts';
import { bytesOf } from './read.ts';

/** A format with a header that nothing else in a file looks like. */
interface Format {
  /** Its first bytes. */
  magic: Buffer;
  /** Of a header: files of the same kind are decoded as one; null where they never are; false: this is no header. */
  kind: (header: Buffer) => string | null | false;
}

const HEADER_BYTES = 65_536; // up to the list of tracks, with Matroska
const MAX_HEADERS = 2000; // that are read: hostile files have any number, of any length
const MAX_TRIES = 100; // headers of a format that are looked at in one search
const MOVIE = /^\0\0[\0\x01][\x10-\xff]ftyp[ -~]{4}$/; // size of the first box, its type, and a brand
const FLV_HEADER = { at: 5, bytes: Buffer.from('0000000900000000', 'hex') }; // its size, and that of the tag before the first
const FLAC_STREAM = /^[\0\x80]\0\0\x22$/; // first block of metadata, maybe the only one, and its size

/** Formats in which ffmpeg decodes only what the first header describes. */
const FORMATS: Format[] = [
  {
    magic: Buffer.from('fLaC'),
    kind: (header) => FLAC_STREAM.test(header.toString('latin1', 4, 8)) && header.toString('hex', 8, 12) + header.toString('hex', 18, 21), // block sizes, sample rate, most of the channels
  },
  { magic: Buffer.from('1a45dfa3', 'hex'), kind: (header) => tracksOf(header) ?? false },
  { magic: Buffer.from('FLV\x01', 'latin1'), kind: (header) => header.indexOf(FLV_HEADER.bytes) === FLV_HEADER.at && null },
  { magic: Buffer.from('RIFF'), kind: (header) => header.toString('latin1', 8, 16) === 'AVI LIST' && null },
  ...[
    '#!AMR\n',
    '#!AMR-WB\n',
    '.snd\0\0\0',
    'caff\0\x01\0\0desc',
    'RF64\xff\xff\xff\xffWAVEds64',
    'BW64\xff\xff\xff\xffWAVEds64',
    'TTA1\x01\0',
    '.RMF\0\0\0\x12',
    'Creative Voice File\x1a',
    'riff\x2e\x91\xcf\x11\xa5\xd6\x28\xdb\x04\xc1\0\0', // Sony Wave64
    '\x30\x26\xb2\x75\x8e\x66\xcf\x11\xa6\xd9\0\xaa\0\x62\xce\x6c', // ASF, WMA, WMV
  ].map((magic) => ({ magic: Buffer.from(magic, 'latin1'), kind: () => null })),
];

/** Formats of chunks and boxes, where a walk from one to the next finds what follows, and Ogg, whose streams begin anywhere in a file. */
const WALKED: (Format & { at?: number })[] = [
  { magic: Buffer.from('RIFF'), kind: (header) => header.toString('latin1', 8, 12) === 'WAVE' && null },
  { magic: Buffer.from('FORM'), kind: (header) => /^AIF[FC]$/.test(header.toString('latin1', 8, 12)) && null },
  { magic: Buffer.from('OggS\0\x02', 'latin1'), kind: () => null }, // first page of a stream
  { magic: Buffer.from('ftyp'), at: 4, kind: (header) => MOVIE.test(header.toString('latin1', 0, 12)) && null },
];

/**
 * Where the first media file begins in some bytes, if it is of a format that ffmpeg looks for at the beginning only. Null if there is none.
 */
export function headerIn(bytes: Buffer): number | null {
  const found = [...FORMATS, ...WALKED].map((format) => firstOf(format, bytes)).filter((at) => at !== null);
  return found.length ? Math.min(...found) : null;
}

function firstOf({ magic, at: offset = 0, kind }: Format & { at?: number }, bytes: Buffer): number | null {
  for (let at = bytes.indexOf(magic, offset), tries = 0; at >= 0 && tries < MAX_TRIES; at = bytes.indexOf(magic, at + 1), tries++) {
    const start = at - offset;
    if (kind(bytes.subarray(start, start + HEADER_BYTES)) !== false) return start;
  }
  return null;
}

/**
 * Where files begin that follow one another in one, of formats that ffmpeg decodes only as the first one is: one position if it is a single
 * file, or of another format. Reads the whole file from `start` on as bytes, or until there are more than `most`.
 */
export async function headersOf(path: string, file: FileHandle, most: number, signal?: AbortSignal, start = 0): Promise<number[]> {
  const head = await headerAt(file, start);
  const format = FORMATS.find(({ magic, kind }) => head.indexOf(magic) === 0 && kind(head) !== false);
  const starts = [start];
  if (!format) return starts;
  let kind = format.kind(head);
  let headers = 0;
  for await (const at of occurrences(path, format.magic, start, signal)) {
    if (++headers > MAX_HEADERS || starts.length > most) break;
    const next = format.kind(await headerAt(file, at));
    if (next === false || (next !== null && next === kind)) continue;
    starts.push(at);
    kind = next;
  }
  return starts;
}

/** Positions of some bytes in a file, after `start`. */
async function* occurrences(path: string, wanted: Buffer, start: number, signal?: AbortSignal): AsyncGenerator<number> {
  let [offset, rest] = [start, Buffer.alloc(0)];
  for await (const chunk of bytesOf(path, { signal, start })) {
    const bytes = Buffer.concat([rest, chunk]);
    for (let at = bytes.indexOf(wanted); at >= 0; at = bytes.indexOf(wanted, at + 1)) if (offset + at > start) yield offset + at;
    rest = bytes.subarray(Math.max(0, bytes.length - wanted.length + 1));
    offset += bytes.length - rest.length;
  }
}

async function headerAt(file: FileHandle, at: number): Promise<Buffer> {
  const { buffer, bytesRead } = await file.read(Buffer.alloc(HEADER_BYTES), 0, HEADER_BYTES, at);
  return buffer.subarray(0, bytesRead);
}
