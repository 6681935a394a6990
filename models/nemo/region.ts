import { readSync } from 'node:fs';

/** Part of an open file. Everything in it is untrusted: reads beyond its end are refused. */
export interface Region {
  file: number;
  /** Bytes. */
  from: number;
  bytes: number;
}

/** The part [at, at + bytes) of a region. */
export function within(region: Region, at: number, bytes: number, what: string): Region {
  if (!(at >= 0 && bytes >= 0 && at + bytes <= region.bytes))
    throw new Error(
      `found ${what} at byte ${at} with ${bytes} bytes, wanted it within ${region.bytes}; the file is damaged, download it again`,
    );
  return { file: region.file, from: region.from + at, bytes };
}

/** The bytes of a region, in a buffer of their own. */
export function readAll({ file, from, bytes }: Region): Uint8Array<ArrayBuffer> {
  const found = new Uint8Array(bytes);
  for (let at = 0; at < bytes; ) {
    const count = readSync(file, found, at, Math.min(bytes - at, MOST_AT_ONCE), from + at);
    if (count === 0) throw new Error(`found the end of the file at byte ${from + at}, wanted ${bytes - at} more; download it again`);
    at += count;
  }
  return found;
}

const MOST_AT_ONCE = 2 ** 30; // bytes: limit of a single read

/** The same as a buffer, for its methods. */
export function readBuffer(region: Region): Buffer {
  return Buffer.from(readAll(region).buffer);
}
