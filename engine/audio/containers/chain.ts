import { isUtf8 } from 'node:buffer';
import { type FileHandle, open } from 'node:fs/promises';
import { MediaError } from '../../types.ts';
import { headerIn, headersOf } from './headers.ts';
import { moviesOf } from './movies.ts';
import { oggParts, type Part } from './ogg.ts';
import { programsOf } from './programs.ts';
import { isTransport } from './transport.ts';

export type { Part } from './ogg.ts';

const MAX_PARTS = 200; // each takes ffmpeg 0.2 s more
const MAX_HEADERS = 20_000; // of chunks that are read: hostile files have any number
const HEAD_BYTES = 12;
const BEGINNING_BYTES = 4096; // that show which format it is
const LEAD_BYTES = 65_536; // searched for a file that begins later
const LEAD = /^(?:\0*|[\t\r\n\x20-\xff]*)$/; // zeros or text
const TAG = /^ID3[\x02-\x04]\0[^\x80-\xff]{5}$/; // version, flags, and four times seven bits of its size
const TAG_HEAD_BYTES = 10;
const TAG_HAS_END = 0x10; // flag of a tag that repeats its first bytes at its end
const APE = { magic: 'APETAGEX', bytes: 12, head: 32 }; // where the size without the head is, and the length of the head
const MAX_TAGS = 10;
const GAP_BYTES = 2 ** 20; // searched for the next file after one
const MAX_GAPS = 20; // that are searched
/** Formats of chunks; `data`: name of the chunk of samples. */
const FORMS = [
  { magic: 'RIFF', kinds: ['WAVE'], data: 'data', little: true },
  { magic: 'FORM', kinds: ['AIFF', 'AIFC'], data: 'SSND', little: false },
];
const STREAMING = new Set([0, 0xffffffff]); // sizes of data up to the end of the file

/**
 * Media files that were written one after the other into one, of which ffmpeg decodes only the first, or all as the first one is, also with
 * other bytes between them, and without the text, tags or zeros before the first. One part if it is a single file, if they can be decoded as one, or
 * of another format. Throws MediaError FILE_CORRUPTED if there are too many.
 */
export async function partsOf(path: string, signal?: AbortSignal): Promise<Part[]> {
  const file = await open(path);
  try {
    const { size } = await file.stat();
    const head = await read(file, 0, BEGINNING_BYTES);
    const parts = head.toString('latin1', 0, 4) === 'OggS' ? await oggParts(path, MAX_PARTS, signal) : [];
    const starts = parts.length ? [] : await startsOf(path, file, size, await leadOf(file), MAX_GAPS, signal);
    parts.push(...starts.map((start, i) => ({ start, end: starts[i + 1] ?? size, chained: false })));
    if (parts.length <= MAX_PARTS) return parts;
    throw new MediaError('FILE_CORRUPTED', `Cannot read the file: it consists of more than ${MAX_PARTS} files. Join them`);
  } finally {
    await file.close();
  }
}

/**
 * Length of what precedes a media file in the file: a form or an HTTP response that was saved whole, zeros, or ID3 and APE tags, which some
 * programs put before any format. ffmpeg skips only ID3: it takes pictures in APE for minutes of damaged MP3.
 */
async function leadOf(file: FileHandle): Promise<number> {
  const { tags, ape } = await tagsOf(file);
  const bytes = await read(file, tags, LEAD_BYTES);
  const lead = headerIn(bytes);
  if (lead === null) return ape && bytes.length ? tags : 0;
  const before = bytes.subarray(0, lead);
  return isUtf8(before) && LEAD.test(before.toString('latin1')) ? tags + lead : 0;
}

/** Length of the ID3v2 and APE tags at the beginning of a file. */
async function tagsOf(file: FileHandle): Promise<{ tags: number; ape: boolean }> {
  let [at, ape] = [0, false];
  for (let tags = 0; tags < MAX_TAGS; tags++) {
    const whole = await read(file, at, APE.head);
    if (whole.length === APE.head && whole.toString('latin1').startsWith(APE.magic)) {
      at += APE.head + whole.readUInt32LE(APE.bytes);
      ape = true;
      continue;
    }
    const head = whole.subarray(0, TAG_HEAD_BYTES);
    if (!TAG.test(head.toString('latin1'))) break;
    const bytes = head.subarray(6).reduce((size, byte) => (size << 7) | byte, 0);
    at += TAG_HEAD_BYTES + bytes + (head[5]! & TAG_HAS_END ? TAG_HEAD_BYTES : 0);
  }
  return { tags: at, ape };
}

/** Where the parts of a file that is not Ogg begin, from byte `from` on. `gaps`: how many times bytes between them may be searched. */
async function startsOf(path: string, file: FileHandle, size: number, from: number, gaps: number, signal?: AbortSignal): Promise<number[]> {
  const head = await read(file, from, BEGINNING_BYTES);
  const kind = head.toString('latin1', 8, HEAD_BYTES);
  const name = head.toString('latin1', 0, 4);
  const form = FORMS.find(({ magic, kinds }) => name === magic && kinds.includes(kind));
  if (!form && head.toString('latin1', 4, 8) !== 'ftyp')
    return isTransport(head) && !from ? programsOf(path, MAX_PARTS, signal) : headersOf(path, file, MAX_PARTS, signal, from);
  const { starts, end } = await (form ? chunksOf(file, size, from, form) : moviesOf(file, size, from));
  const next = gaps > 0 && end < size ? headerIn(await read(file, end, GAP_BYTES)) : null;
  return next === null ? starts : [...starts, ...(await startsOf(path, file, size, end + next, gaps - 1, signal))];
}

/** Where files of chunks begin, and where their chunks end: a chunk after the samples is the header of the next file. */
async function chunksOf(
  file: FileHandle,
  size: number,
  from: number,
  { magic, kinds, data, little }: (typeof FORMS)[number],
): Promise<{ starts: number[]; end: number }> {
  const starts = [from];
  let [at, end] = [from + HEAD_BYTES, from + HEAD_BYTES];
  for (let headers = 0; at + HEAD_BYTES <= size && headers < MAX_HEADERS; headers++) {
    const head = await read(file, at, HEAD_BYTES);
    const name = head.toString('latin1', 0, 4);
    const bytes = little ? head.readUInt32LE(4) : head.readUInt32BE(4);
    if (name === magic && kinds.includes(head.toString('latin1', 8, 12))) {
      starts.push(at);
      at += HEAD_BYTES;
      end = at;
      continue;
    }
    if (name === data && STREAMING.has(bytes)) return { starts, end: size };
    const next = at + 8 + bytes;
    const padded = bytes % 2 === 1 && (await read(file, next, 4)).toString('latin1') !== magic;
    at = next + Number(padded);
    if (name === data) end = Math.min(size, at);
  }
  return { starts, end: at === size ? size : end };
}

async function read(file: FileHandle, at: number, count: number): Promise<Buffer> {
  const { buffer, bytesRead } = await file.read(Buffer.alloc(count), 0, count, at);
  return buffer.subarray(0, bytesRead);
}
