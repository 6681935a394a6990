import { type Region, readBuffer, within } from './region.ts';

/*
 * The zip archives that PyTorch writes: members are stored without compression, so that each can be read at its place; zip64 where it is
 * needed.
 */

const [END, END64, LOCATOR64, CENTRAL, LOCAL] = [0x06054b50, 0x06064b50, 0x07064b50, 0x02014b50, 0x04034b50]; // signatures
const [END_BYTES, LOCATOR_BYTES, END64_BYTES, CENTRAL_BYTES, LOCAL_BYTES] = [22, 20, 56, 46, 30];
const LONGEST_COMMENT = 2 ** 16;
const MOST_DIRECTORY = 64 * 2 ** 20; // bytes; a model of 2000 tensors has 0.2 MB
const ZIP64 = 1; // number of the extra field with 64-bit sizes
const [WHOLE32, WHOLE16] = [0xffffffff, 0xffff]; // values that stand for those in zip64 fields

/** The members of a zip archive by name. Throws if one is compressed or encrypted. */
export function zipMembers(archive: Region): Map<string, Region> {
  const { offset, bytes, count } = directoryOf(archive);
  if (bytes > MOST_DIRECTORY) throw new Error(`found a list of ${bytes} bytes in the zip archive, wanted that of a checkpoint`);
  const directory = readBuffer(within(archive, offset, bytes, 'the list of the zip archive'));
  const members = new Map<string, Region>();
  for (let at = 0, i = 0; i < count; i++) {
    const room = directory.length - at;
    if (room < CENTRAL_BYTES || directory.readUInt32LE(at) !== CENTRAL) throw damaged('no entry where its list has one');
    const [nameBytes, extraBytes, commentBytes] = [28, 30, 32].map((field) => directory.readUInt16LE(at + field)) as [
      number,
      number,
      number,
    ];
    const next = at + CENTRAL_BYTES + nameBytes + extraBytes + commentBytes;
    if (next > directory.length) throw damaged('an entry that is cut short');
    const name = directory.toString('utf8', at + CENTRAL_BYTES, at + CENTRAL_BYTES + nameBytes);
    const [flags, method] = [directory.readUInt16LE(at + 8), directory.readUInt16LE(at + 10)];
    if (method !== 0 || flags & 1)
      throw new Error(
        `found ${name.slice(0, 80)} ${flags & 1 ? 'encrypted' : `compressed (method ${method})`} in the checkpoint, wanted it stored as PyTorch does; load and save it with NeMo`,
      );
    const extra = directory.subarray(at + CENTRAL_BYTES + nameBytes, at + CENTRAL_BYTES + nameBytes + extraBytes);
    const sizes = [directory.readUInt32LE(at + 24), directory.readUInt32LE(at + 20), directory.readUInt32LE(at + 42)];
    const [plain, stored, local] = with64(sizes, extra) as [number, number, number];
    if (plain !== stored) throw damaged(`${name.slice(0, 80)} with two different sizes`);
    members.set(name, contentsOf(archive, local, stored, name));
    at = next;
  }
  return members;
}

/** The contents of a member, after its own header. */
function contentsOf(archive: Region, at: number, bytes: number, name: string): Region {
  const header = readBuffer(within(archive, at, LOCAL_BYTES, `the header of ${name.slice(0, 80)}`));
  if (header.readUInt32LE(0) !== LOCAL) throw damaged(`no header of ${name.slice(0, 80)}`);
  const from = at + LOCAL_BYTES + header.readUInt16LE(26) + header.readUInt16LE(28);
  return within(archive, from, bytes, name.slice(0, 80));
}

function directoryOf(archive: Region): { offset: number; bytes: number; count: number } {
  const length = Math.min(archive.bytes, END_BYTES + LONGEST_COMMENT);
  const tail = readBuffer(within(archive, archive.bytes - length, length, 'the end of the zip archive'));
  let at = length - END_BYTES;
  while (at >= 0 && tail.readUInt32LE(at) !== END) at--;
  if (at < 0)
    throw new Error(
      'found no zip archive in model_weights.ckpt, wanted a checkpoint of PyTorch 1.6 or later; load and save it with a newer NeMo',
    );
  const end = { count: tail.readUInt16LE(at + 10), bytes: tail.readUInt32LE(at + 12), offset: tail.readUInt32LE(at + 16) };
  if (end.count !== WHOLE16 && end.bytes !== WHOLE32 && end.offset !== WHOLE32) return end;
  const locator = readBuffer(within(archive, archive.bytes - length + at - LOCATOR_BYTES, LOCATOR_BYTES, 'the zip64 locator'));
  if (locator.readUInt32LE(0) !== LOCATOR64) throw damaged('no zip64 locator');
  const end64 = readBuffer(within(archive, Number(locator.readBigUInt64LE(8)), END64_BYTES, 'the zip64 end'));
  if (end64.readUInt32LE(0) !== END64) throw damaged('no zip64 end');
  const [count, bytes, offset] = [32, 40, 48].map((field) => Number(end64.readBigUInt64LE(field))) as [number, number, number];
  return { offset, bytes, count };
}

/** Replaces values that do not fit into 32 bits by those of the zip64 field, which has only these, in order. */
function with64(values: number[], extra: Buffer): number[] {
  let field: Buffer = Buffer.alloc(0);
  for (let at = 0; at + 4 <= extra.length; at += 4 + extra.readUInt16LE(at + 2)) {
    if (extra.readUInt16LE(at) === ZIP64) field = extra.subarray(at + 4, at + 4 + extra.readUInt16LE(at + 2));
  }
  let at = 0;
  return values.map((value) => {
    if (value !== WHOLE32) return value;
    if (at + 8 > field.length) throw damaged('a size without its zip64 value');
    at += 8;
    return Number(field.readBigUInt64LE(at - 8));
  });
}

function damaged(what: string): Error {
  return new Error(`found ${what} in model_weights.ckpt, wanted a zip archive of PyTorch; it is damaged, download the file again`);
}
