import { createReadStream } from 'node:fs';

const FIRST_PAGE = Buffer.from('OggS\0\x02', 'latin1'); // of a stream; 2: beginning of stream. With 3 it would also be a continued packet
const PAGE = Buffer.from('OggS\0', 'latin1');

/**
 * Whether an Ogg file is chained: streams begin after others have. Then its clock may restart; otherwise it runs through, however long a pause is.
 * Reads the file as bytes, up to the second beginning.
 */
export async function isChained(path: string, signal?: AbortSignal): Promise<boolean> {
  let begun = false; // a page was not the first of a stream
  let rest = Buffer.alloc(0);
  for await (const chunk of createReadStream(path, { signal, highWaterMark: 2 ** 20 })) {
    const bytes = Buffer.concat([rest, chunk as Buffer]);
    for (let at = bytes.indexOf(PAGE); at >= 0 && at + FIRST_PAGE.length <= bytes.length; at = bytes.indexOf(PAGE, at + 1)) {
      const isFirst = bytes.compare(FIRST_PAGE, 0, FIRST_PAGE.length, at, at + FIRST_PAGE.length) === 0;
      if (isFirst && begun) return true;
      begun ||= !isFirst;
    }
    rest = bytes.subarray(1 - FIRST_PAGE.length);
  }
  return false;
}
