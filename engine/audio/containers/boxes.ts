import type { FileHandle } from 'node:fs/promises';

/** A box of an MP4 file: where it begins, and the positions of its content. */
export interface Box {
  type: string;
  start: number;
  from: number;
  to: number;
}

export interface Reading {
  handle: FileHandle;
  /** How many more headers may be read. */
  boxes: number;
}

export const MAX_BOXES = 20_000; // whose headers are read: a file has a few tracks, and hostile ones have any number of boxes

/** The first box at a path of types in a box. */
export async function inside(file: Reading, box: Box, path: readonly string[]): Promise<Box | undefined> {
  let found: Box | undefined = box;
  for (const name of path) found = found && (await children(file, found, name)).find(({ type }) => type === name);
  return found;
}

/** The boxes in a box, as far as they are whole, up to the first one of a type. */
export async function children(file: Reading, { from, to }: Box, until?: string): Promise<Box[]> {
  const found: Box[] = [];
  for (let at = from; at + 8 <= to && file.boxes-- > 0; at = found.at(-1)!.to) {
    const header = await bytes(file, at, 16);
    if (header.length < 8) break;
    const short = header.readUInt32BE(0);
    if (short === 1 && header.length < 16) break;
    if (short === 0 && header.readUInt32BE(4) === 0) break; // zeros are no box
    const size = short === 1 ? Number(header.readBigUInt64BE(8)) : short === 0 ? to - at : short;
    const start = at + (short === 1 ? 16 : 8);
    if (at + size < start || at + size > to) break;
    found.push({ type: header.toString('latin1', 4, 8), start: at, from: start, to: at + size });
    if (found.at(-1)!.type === until) break;
  }
  return found;
}

/** Up to `count` bytes. */
export async function bytes({ handle }: Reading, at: number, count: number): Promise<Buffer> {
  const { buffer, bytesRead } = await handle.read(Buffer.alloc(count), 0, count, at);
  return buffer.subarray(0, bytesRead);
}
