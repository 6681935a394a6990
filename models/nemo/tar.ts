import { type Region, readBuffer, within } from './region.ts';

const BLOCK = 512; // bytes: headers, and the unit of contents
const MOST_MEMBERS = 4096;
const [NAME, SIZE, CHECKSUM, TYPE] = [
  [0, 100],
  [124, 136],
  [148, 156],
  [156, 157],
] as const; // bytes of a header
const FILES = new Set(['0', '\0', '7']); // types of plain files

/** The plain files of a tar archive, by name without a leading `./`. Their contents are not read. */
export function tarMembers(archive: Region): Map<string, Region> {
  const members = new Map<string, Region>();
  for (let at = 0, count = 0; at + BLOCK <= archive.bytes; count++) {
    const header = readBuffer(within(archive, at, BLOCK, 'a header'));
    if (header.every((byte) => byte === 0)) break;
    if (count === MOST_MEMBERS) throw new Error(`found more than ${MOST_MEMBERS} files in the archive, wanted those of a model`);
    if (!isHeader(header)) throw new Error(`found no tar header at byte ${at}, wanted a .nemo archive; download the file again`);
    const bytes = sizeOf(header);
    const type = header.toString('latin1', ...TYPE);
    const name = header.toString('utf8', ...NAME).replace(/\0.*$/s, '');
    const contents = within(archive, at + BLOCK, bytes, `the file ${name.slice(0, 80)}`);
    if (FILES.has(type)) members.set(name.replace(/^(\.\/)+/, ''), contents);
    at += BLOCK + Math.ceil(bytes / BLOCK) * BLOCK;
  }
  return members;
}

/** Whether the sum of a header's bytes is the one that it states; its own field counts as spaces. */
function isHeader(header: Buffer): boolean {
  const [from, to] = CHECKSUM;
  const stated = Number.parseInt(header.toString('latin1', from, to).replace(/[\0 ]+$/, ''), 8);
  const sum = header.reduce((total, byte, i) => total + (i >= from && i < to ? 32 : byte), 0);
  return stated === sum;
}

/** Size of the contents: octal digits, or for 8 GiB and more a binary number with its first bit set. */
function sizeOf(header: Buffer): number {
  const [from, to] = SIZE;
  if (header[from]! & 0x80) return Number(header.readBigUInt64BE(to - 8));
  const text = header
    .toString('latin1', from, to)
    .replace(/[\0 ]+$/, '')
    .trim();
  if (!/^[0-7]+$/.test(text)) throw new Error(`found the size "${text.slice(0, 12)}" in the archive, wanted an octal number`);
  return Number.parseInt(text, 8);
}
