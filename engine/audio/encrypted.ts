import { type FileHandle, open } from 'node:fs/promises';

/** A box of an MP4 file: the positions of its content. */
interface Box {
  type: string;
  from: number;
  to: number;
}

interface Reading {
  handle: FileHandle;
  /** How many more headers may be read. */
  boxes: number;
}

const MAX_BOXES = 20_000; // whose headers are read: a file has a few tracks, and hostile ones have any number of boxes
const MAX_ENTRY_BYTES = 65_536; // of sample descriptions
const PROTECTED_AT = 10; // bytes from the name of a tenc box to its isProtected

/** Whether all audio tracks of an MP4 file are encrypted (ISO 23001-7). ffmpeg lists them with the codec inside, and decodes noise or nothing. */
export async function isEncrypted(path: string, part?: { start: number; end: number }): Promise<boolean> {
  const handle = await open(path);
  const file = { handle, boxes: MAX_BOXES };
  try {
    const moov = (await children(file, { type: '', from: part?.start ?? 0, to: part?.end ?? (await handle.stat()).size }, 'moov')).at(-1);
    const tracks = moov?.type === 'moov' ? (await children(file, moov)).filter(({ type }) => type === 'trak') : [];
    const found: boolean[] = [];
    for (const track of tracks) {
      const description = await inside(file, track, ['mdia', 'minf', 'stbl', 'stsd']);
      const handler = await inside(file, track, ['mdia', 'hdlr']);
      if (!description || !handler || (await bytes(file, handler.from + 8, 4)).toString('latin1') !== 'soun') continue;
      found.push(isProtected(await bytes(file, description.from, Math.min(MAX_ENTRY_BYTES, description.to - description.from))));
    }
    return found.length > 0 && found.every(Boolean);
  } finally {
    await handle.close();
  }
}

/** Whether the first of a track's sample descriptions is encrypted. */
function isProtected(description: Buffer): boolean {
  if (description.toString('latin1', 12, 16) !== 'enca') return false;
  const settings = description.indexOf('tenc', 16, 'latin1');
  return settings < 0 || description[settings + PROTECTED_AT] !== 0;
}

async function inside(file: Reading, box: Box, path: readonly string[]): Promise<Box | undefined> {
  let found: Box | undefined = box;
  for (const name of path) found = found && (await children(file, found, name)).find(({ type }) => type === name);
  return found;
}

/** The boxes in a box, as far as they are whole, up to the first one of a type. */
async function children(file: Reading, { from, to }: Box, until?: string): Promise<Box[]> {
  const found: Box[] = [];
  for (let at = from; at + 8 <= to && file.boxes-- > 0; at = found.at(-1)!.to) {
    const header = await bytes(file, at, 16);
    if (header.length < 8) break;
    const short = header.readUInt32BE(0);
    if (short === 1 && header.length < 16) break;
    const size = short === 1 ? Number(header.readBigUInt64BE(8)) : short === 0 ? to - at : short;
    const start = at + (short === 1 ? 16 : 8);
    if (at + size < start || at + size > to) break;
    found.push({ type: header.toString('latin1', 4, 8), from: start, to: at + size });
    if (found.at(-1)!.type === until) break;
  }
  return found;
}

async function bytes({ handle }: Reading, at: number, count: number): Promise<Buffer> {
  const { buffer, bytesRead } = await handle.read(Buffer.alloc(count), 0, count, at);
  return buffer.subarray(0, bytesRead);
}
