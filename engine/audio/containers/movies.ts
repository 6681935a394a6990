import type { FileHandle } from 'node:fs/promises';
import { type Box, bytes, children, inside, MAX_BOXES, type Reading } from './boxes.ts';

/** A file header, and what follows up to the next one. */
interface Movie {
  start: number;
  /** Types of its boxes. */
  types: Set<string>;
  fragments: Box[];
}

/**
 * Where MP4 files begin, from byte `from` on, that have samples and an index of their own, and where their boxes end. Fragments that only
 * repeat their header are one file: their clock goes on; where it begins again, ffmpeg would miss fragments.
 */
export async function moviesOf(handle: FileHandle, size: number, from: number): Promise<{ starts: number[]; end: number }> {
  const file = { handle, boxes: MAX_BOXES };
  const boxes = await children(file, { type: '', start: from, from, to: size });
  const cut = boxes.at(-1)?.to ?? from; // a box that is not whole
  boxes.push({ type: (await bytes(file, cut, 8)).toString('latin1', 4), start: cut, from: size, to: size });
  const movies: Movie[] = [];
  for (const box of boxes) {
    if (box.type === 'ftyp') movies.push({ start: box.start, types: new Set(), fragments: [] });
    movies.at(-1)?.types.add(box.type);
    if (box.type === 'moof') movies.at(-1)?.fragments.push(box);
  }
  const starts = [from];
  let last: Box | undefined; // fragment
  file.boxes = MAX_BOXES;
  for (const [i, { start, types, fragments }] of movies.entries()) {
    const isWhole = types.has('moov') && types.has('mdat');
    if (i > 0 && isWhole && !(await goesOn(file, last, fragments[0]))) starts.push(start);
    last = fragments.at(-1) ?? (isWhole ? undefined : last);
  }
  return { starts, end: cut };
}

/** Whether a fragment comes after another by their clocks, or nothing shows that it does not. */
async function goesOn(file: Reading, before: Box | undefined, next: Box | undefined): Promise<boolean> {
  if (!before || !next) return false;
  const [ended, begun] = [await clockOf(file, before), await clockOf(file, next)];
  return ended === null || begun === null || begun > ended;
}

/** When a fragment begins, in units of its first track. */
async function clockOf(file: Reading, fragment: Box): Promise<bigint | null> {
  const box = await inside(file, fragment, ['traf', 'tfdt']);
  const content = box ? await bytes(file, box.from, 12) : Buffer.alloc(0);
  if (content.length < 12) return null;
  return content[0] ? content.readBigUInt64BE(4) : BigInt(content.readUInt32BE(4));
}
