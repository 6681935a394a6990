import { type FileHandle, open } from 'node:fs/promises';
import { MediaError } from '../../types.ts';
import { headersOf } from './headers.ts';
import { moviesOf } from './movies.ts';
import { oggParts, type Part } from './ogg.ts';
import { programsOf } from './programs.ts';
import { isTransport } from './transport.ts';

export type { Part } from './ogg.ts';

const MAX_PARTS = 200; // each takes ffmpeg 0.2 s more
const MAX_HEADERS = 20_000; // of chunks that are read: hostile files have any number
const HEAD_BYTES = 12;
const BEGINNING_BYTES = 4096; // that show which format it is
/** Formats of chunks; `data`: name of the chunk of samples. */
const FORMS = [
  { magic: 'RIFF', kinds: ['WAVE'], data: 'data', little: true },
  { magic: 'FORM', kinds: ['AIFF', 'AIFC'], data: 'SSND', little: false },
];
const STREAMING = new Set([0, 0xffffffff]); // sizes of data up to the end of the file

/**
 * Media files that were written one after the other into one, of which ffmpeg decodes only the first, or all as the first one is. One part if
 * it is a single file, if they can be decoded as one, or of another format. Throws MediaError FILE_CORRUPTED if there are too many.
 */
export async function partsOf(path: string, signal?: AbortSignal): Promise<Part[]> {
  const file = await open(path);
  try {
    const { size } = await file.stat();
    const head = await read(file, 0, BEGINNING_BYTES);
    const parts = head.toString('latin1', 0, 4) === 'OggS' ? await oggParts(path, MAX_PARTS, signal) : [];
    const starts = parts.length ? [] : await startsOf(path, file, size, head, signal);
    parts.push(...starts.map((start, i) => ({ start, end: starts[i + 1] ?? size, chained: false })));
    if (parts.length <= MAX_PARTS) return parts;
    throw new MediaError('FILE_CORRUPTED', `Cannot read the file: it consists of more than ${MAX_PARTS} files. Join them`);
  } finally {
    await file.close();
  }
}

/** Where the parts of a file that is not Ogg begin. */
async function startsOf(path: string, file: FileHandle, size: number, head: Buffer, signal?: AbortSignal): Promise<number[]> {
  const kind = head.toString('latin1', 8, HEAD_BYTES);
  const name = head.toString('latin1', 0, 4);
  const form = FORMS.find(({ magic, kinds }) => name === magic && kinds.includes(kind));
  if (form) return chunksOf(file, size, form);
  if (head.toString('latin1', 4, 8) === 'ftyp') return moviesOf(file, size);
  return isTransport(head) ? programsOf(path, MAX_PARTS, signal) : headersOf(path, file, MAX_PARTS, signal);
}

/** Where files of chunks begin: a chunk after the samples is the header of the next file. */
async function chunksOf(file: FileHandle, size: number, { magic, kinds, data, little }: (typeof FORMS)[number]): Promise<number[]> {
  const starts = [0];
  for (let at = HEAD_BYTES, headers = 0; at + HEAD_BYTES <= size && headers < MAX_HEADERS; headers++) {
    const head = await read(file, at, HEAD_BYTES);
    const name = head.toString('latin1', 0, 4);
    const bytes = little ? head.readUInt32LE(4) : head.readUInt32BE(4);
    if (name === magic && kinds.includes(head.toString('latin1', 8, 12))) {
      starts.push(at);
      at += HEAD_BYTES;
      continue;
    }
    if (name === data && STREAMING.has(bytes)) break;
    const next = at + 8 + bytes;
    const padded = bytes % 2 === 1 && (await read(file, next, 4)).toString('latin1') !== magic;
    at = next + Number(padded);
  }
  return starts;
}

async function read(file: FileHandle, at: number, count: number): Promise<Buffer> {
  const { buffer, bytesRead } = await file.read(Buffer.alloc(count), 0, count, at);
  return buffer.subarray(0, bytesRead);
}
