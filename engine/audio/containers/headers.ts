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
const FLV_HEADER = { at: 5, bytes: Buffer.from('0000000900000000', 'hex') }; // its size, and that of the tag before the first
const FLAC_STREAM = /^[\0\x80]\0\0\x22$/; // first block of metadata, maybe the only one, and its size

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

/**
 * Where files begin that follow one another in one, of formats that ffmpeg decodes only as the first one is: one position if it is a single
 * file, or of another format. Reads the whole file as bytes, or until there are more than `most`.
 */
export async function headersOf(path: string, file: FileHandle, most: number, signal?: AbortSignal): Promise<number[]> {
  const head = await headerAt(file, 0);
  const format = FORMATS.find(({ magic, kind }) => head.indexOf(magic) === 0 && kind(head) !== false);
  const starts = [0];
  if (!format) return starts;
  let kind = format.kind(head);
  let headers = 0;
  for await (const at of occurrences(path, format.magic, signal)) {
    if (++headers > MAX_HEADERS || starts.length > most) break;
    const next = format.kind(await headerAt(file, at));
    if (next === false || (next !== null && next === kind)) continue;
    starts.push(at);
    kind = next;
  }
  return starts;
}

/** Positions of some bytes in a file, after its beginning. */
async function* occurrences(path: string, wanted: Buffer, signal?: AbortSignal): AsyncGenerator<number> {
  let [offset, rest] = [0, Buffer.alloc(0)];
  for await (const chunk of bytesOf(path, { signal })) {
    const bytes = Buffer.concat([rest, chunk]);
    for (let at = bytes.indexOf(wanted); at >= 0; at = bytes.indexOf(wanted, at + 1)) if (offset + at > 0) yield offset + at;
    rest = bytes.subarray(Math.max(0, bytes.length - wanted.length + 1));
    offset += bytes.length - rest.length;
  }
}

async function headerAt(file: FileHandle, at: number): Promise<Buffer> {
  const { buffer, bytesRead } = await file.read(Buffer.alloc(HEADER_BYTES), 0, HEADER_BYTES, at);
  return buffer.subarray(0, bytesRead);
}
