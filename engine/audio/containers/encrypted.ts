import { open } from 'node:fs/promises';
import { bytes, children, inside, MAX_BOXES } from './boxes.ts';

const MAX_ENTRY_BYTES = 65_536; // of sample descriptions
const PROTECTED_AT = 10; // bytes from the name of a tenc box to its isProtected

/** Whether all audio tracks of an MP4 file are encrypted (ISO 23001-7). ffmpeg lists them with the codec inside, and decodes noise or nothing. */
export async function isEncrypted(path: string, part?: { start: number; end: number }): Promise<boolean> {
  const handle = await open(path);
  const file = { handle, boxes: MAX_BOXES };
  try {
    const moov = (
      await children(file, { type: '', start: 0, from: part?.start ?? 0, to: part?.end ?? (await handle.stat()).size }, 'moov')
    ).at(-1);
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
