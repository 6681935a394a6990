import { bytesOf } from './read.ts';
import { packetId, TransportReader } from './transport.ts';

const [PROGRAMS_ID, PROGRAMS_TABLE, STREAMS_TABLE] = [0, 0, 2]; // number of the stream, and tables
const START = 0x40; // flag of a packet in which a table begins
const CHECKSUM_BYTES = 4; // at the end of a table
const AUDIO_TYPES = new Set([0x03, 0x04, 0x0f, 0x11, 0x80, 0x81, 0x82, 0x83, 0x84, 0x85, 0x86, 0x87]); // ISO 13818-1, ATSC, Blu-ray
const PRIVATE_TYPE = 0x06; // audio with one of these descriptors: AC-3, E-AC-3, DTS, AAC, Opus
const AUDIO_DESCRIPTORS = new Set([0x6a, 0x7a, 0x7b, 0x7c, 0x7f]);

/**
 * Where the audio of an MPEG transport stream goes on in other streams, or with other codecs, than before: ffmpeg looks for the old ones, and
 * gives new ones the time of the beginning. So do transport streams that were written one after the other into one, and advertisements.
 * Reads the whole file; one position if there are more than `most`.
 */
export async function programsOf(path: string, most: number, signal?: AbortSignal): Promise<number[]> {
  const starts = [0];
  let tables = new Map<number, Set<string>>(); // audio of each program
  let listed = new Map<number, number>(); // programs by the number of the stream that describes them
  let listedAt = 0;
  const reader = new TransportReader((data, at) => {
    const id = data.readUInt16BE(at + 1) & 0x1fff;
    return Boolean(data[at + 1]! & START) && (id === PROGRAMS_ID || listed.has(id));
  });
  for await (const bytes of bytesOf(path, { signal })) {
    for (const { at, packet } of reader.push(bytes)) {
      const table = tableOf(packet);
      if (!table) continue;
      if (packetId(packet) === PROGRAMS_ID) {
        if (table[0] === PROGRAMS_TABLE) [listed, listedAt] = [programsIn(table), at];
        continue;
      }
      if (table[0] !== STREAMS_TABLE) continue;
      const program = table.readUInt16BE(3);
      const audio = audioIn(table);
      const before = [...tables.values()].flatMap((audio) => [...audio]);
      const isKnown = tables.has(program) || ![...listed.values()].some((program) => tables.has(program));
      if (audio.size && before.length && isKnown && !before.some((stream) => audio.has(stream))) {
        starts.push(listedAt > starts.at(-1)! ? listedAt : at);
        tables = new Map();
      }
      if (audio.size) tables.set(program, audio);
    }
    if (starts.length > most) return [0];
  }
  return starts;
}

/** The table that begins and ends in a packet, from its identifier to the checksum. */
function tableOf(packet: Buffer): Buffer | null {
  const payload = packet[3]! & 0x20 ? 5 + packet[4]! : 4;
  const start = payload + 1 + (packet[payload] ?? 0);
  if (start + 3 > packet.length) return null;
  const end = start + 3 + (packet.readUInt16BE(start + 1) & 0xfff) - CHECKSUM_BYTES;
  return end < start + 8 || end > packet.length ? null : packet.subarray(start, end);
}

function programsIn(table: Buffer): Map<number, number> {
  const found = new Map<number, number>();
  for (let at = 8; at + 4 <= table.length; at += 4) found.set(table.readUInt16BE(at + 2) & 0x1fff, table.readUInt16BE(at));
  return found;
}

/** The audio streams of a program, with their types. */
function audioIn(table: Buffer): Set<string> {
  const found = new Set<string>();
  if (table.length < 12) return found;
  for (let at = 12 + (table.readUInt16BE(10) & 0xfff); at + 5 <= table.length; ) {
    const [type, id, length] = [table[at]!, table.readUInt16BE(at + 1) & 0x1fff, table.readUInt16BE(at + 3) & 0xfff];
    const descriptors = table.subarray(at + 5, at + 5 + length);
    if (AUDIO_TYPES.has(type) || (type === PRIVATE_TYPE && hasAudioDescriptor(descriptors))) found.add(`${id} ${type}`);
    at += 5 + length;
  }
  return found;
}

function hasAudioDescriptor(descriptors: Buffer): boolean {
  for (let at = 0; at + 2 <= descriptors.length; at += 2 + descriptors[at + 1]!) if (AUDIO_DESCRIPTORS.has(descriptors[at]!)) return true;
  return false;
}
