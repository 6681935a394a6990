import { open } from 'node:fs/promises';
import { type Box, bytes, children, inside, MAX_BOXES, type Reading } from './boxes.ts';

const MAX_EDITS = 1000; // that are read of a track

/**
 * Tracks of an MP4 file, by index, whose list of edits leaves nothing of them: all are empty, have no duration, as some programs write that
 * do not know it, or lie beyond the samples. Players that ignore edits play such tracks. None if the file consists of fragments, where a
 * duration of 0 stands for all that follows.
 */
export async function editedAway(path: string, part: { start: number; end: number }): Promise<ReadonlySet<number>> {
  const handle = await open(path);
  const file = { handle, boxes: MAX_BOXES };
  try {
    const moov = (await children(file, { type: '', start: part.start, from: part.start, to: part.end }, 'moov')).at(-1);
    const boxes = moov?.type === 'moov' ? await children(file, moov) : [];
    const away = new Set<number>();
    if (boxes.some(({ type }) => type === 'mvex')) return away;
    for (const [index, track] of boxes.filter(({ type }) => type === 'trak').entries())
      if (!(await leavesSome(file, track))) away.add(index);
    return away;
  } finally {
    await handle.close();
  }
}

async function leavesSome(file: Reading, track: Box): Promise<boolean> {
  const list = await inside(file, track, ['edts', 'elst']);
  const header = await inside(file, track, ['mdia', 'mdhd']);
  if (!list || !header) return true;
  const media = durationIn(await bytes(file, header.from, 32));
  const head = await bytes(file, list.from, 8);
  if (head.length < 8) return true;
  const wide = head[0] === 1; // numbers of 64 bits
  const size = wide ? 20 : 12;
  const count = Math.min(head.readUInt32BE(4), Math.floor((list.to - list.from - 8) / size), MAX_EDITS);
  const edits = await bytes(file, list.from + 8, count * size);
  for (let at = 0; at + size <= edits.length; at += size) {
    const duration = wide ? Number(edits.readBigUInt64BE(at)) : edits.readUInt32BE(at);
    const time = wide ? Number(edits.readBigInt64BE(at + 8)) : edits.readInt32BE(at + 4);
    if (duration > 0 && time >= 0 && time < media) return true;
  }
  return count === 0;
}

/** Duration of the samples of a track, in its own units; infinite if it is not given. */
function durationIn(header: Buffer): number {
  const wide = header[0] === 1;
  if (header.length < (wide ? 32 : 20)) return Number.POSITIVE_INFINITY;
  return (wide ? Number(header.readBigUInt64BE(24)) : header.readUInt32BE(16)) || Number.POSITIVE_INFINITY;
}
