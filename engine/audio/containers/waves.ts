import { type FileHandle, open } from 'node:fs/promises';

const FORMS = /^(?:RIFF|RF64|BW64)....WAVE$/s;
const SIZED_BY_DS64 = 0xffffffff; // size of the samples of an RF64 file, which its ds64 chunk has
const MAX_CHUNKS = 1000; // before the samples
const MIN_BYTES = 8192; // behind the declared end, below which they are the end of a form or of a tag
const LOOK_BYTES = 65_536; // behind it; if these are zeros, so may be the rest: space that was reserved

/**
 * Whether the samples of a WAV file, also RF64 and BW64, go on after their declared end: programs that crash or lose power leave the size
 * that they wrote last. False if other chunks or zeros follow, or for a part that others follow.
 */
export async function goesOnAfterEnd(path: string, { start, end }: { start: number; end: number }): Promise<boolean> {
  const file = await open(path);
  try {
    if (end < (await file.stat()).size) return false;
    const declared = await declaredEnd(file, start, end);
    if (declared === null || end - declared < MIN_BYTES) return false;
    const rest = await read(file, declared, LOOK_BYTES);
    const isChunk = (at: number) =>
      /^[ -~]{4}$/.test(rest.toString('latin1', at, at + 4)) && declared + at + 8 + rest.readUInt32LE(at + 4) <= end;
    return !isChunk(0) && !isChunk(1) && rest.some((byte) => byte !== 0);
  } finally {
    await file.close();
  }
}

/** Where the samples end by the size that the file gives. Null if there is none, or it is that of a stream. */
async function declaredEnd(file: FileHandle, start: number, end: number): Promise<number | null> {
  if (!FORMS.test((await read(file, start, 12)).toString('latin1'))) return null;
  let large: number | null = null; // size of the samples by ds64
  for (let at = start + 12, chunks = 0; at + 8 <= end && chunks < MAX_CHUNKS; chunks++) {
    const head = await read(file, at, 24);
    const name = head.toString('latin1', 0, 4);
    const size = head.readUInt32LE(4);
    if (name === 'ds64' && head.length === 24) large = Number(head.readBigUInt64LE(16));
    if (name === 'data' && large !== null && size === SIZED_BY_DS64) return at + 8 + large;
    if (name === 'data') return size === 0 || size === SIZED_BY_DS64 ? null : at + 8 + size;
    at += 8 + size + (size % 2);
  }
  return null;
}

async function read(file: FileHandle, at: number, count: number): Promise<Buffer> {
  const { buffer, bytesRead } = await file.read(Buffer.alloc(count), 0, count, at);
  return buffer.subarray(0, bytesRead);
}
