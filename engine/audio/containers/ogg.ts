import { bytesOf } from './read.ts';

/** A media file within a file, or a run of an Ogg file with one codec, sample rate and number of channels: bytes, [start, end). */
export interface Part {
  start: number;
  end: number;
  /**
   * An Ogg file in which streams begin after others, or FLAC begins in the middle of a stream: its clock may restart. Otherwise it runs
   * through, however long a pause is.
   */
  chained: boolean;
}

const PAGE = Buffer.from('OggS\0', 'latin1');
const FLAGS_AT = PAGE.length;
const TIME_AT = 6; // of the end of a page, in samples
const SEGMENTS_AT = 26; // number of segments, then their lengths, then the packets
const BEGINNING = 2; // flag of the first page of a stream
const KIND_BYTES = 16; // of the first packet: with Vorbis and Opus the codec, the channels and the sample rate
const FLAC = { magic: '\x7fFLAC', blocks: 17, frames: 21, rate: 27, end: 30 }; // bytes of the block sizes, of the sample rate and of most of the channels; others differ from file to file
const SPEEX = Buffer.from('Speex ').toString('hex'); // of whose later headers ffmpeg makes a second of noise
const MAX_KINDS_CHARACTERS = 10_000; // of the streams that begin together, of which ffmpeg takes 256: hostile files have millions
const HEAD_BYTES = SEGMENTS_AT + 1 + 255 + FLAC.end; // of a page, up to what is needed of its first packet

/**
 * Parts of an Ogg file. Streams that begin after others have are a new part if they are of another kind, which ffmpeg does not decode after
 * the first. Reads the whole file as bytes, or until there are more than `most` parts.
 */
export async function oggParts(path: string, most: number, signal?: AbortSignal): Promise<Part[]> {
  const parts: Part[] = [];
  let kinds = ''; // of the streams of the part
  let link = { start: 0, kinds: '' }; // streams that began together
  let begun = false; // a page was not the first of a stream
  let dated = false; // one had a time
  /** Whether a page has a time. FLAC whose first one is later than its samples joins a stream under way: ffmpeg has it leap there. */
  const date = (page: Buffer): boolean => {
    const time = page.length < HEAD_BYTES ? 0n : page.readBigInt64LE(TIME_AT);
    if (time > 0n && link.kinds.startsWith('flac') && time > mostSamples(page, link.kinds)) parts.at(-1)!.chained = true;
    return time > 0n;
  };
  const join = () => {
    if (parts.length && kinds === link.kinds && !kinds.includes(SPEEX)) parts.at(-1)!.chained = true;
    else {
      if (parts.length) parts.at(-1)!.end = link.start;
      parts.push({ start: link.start, end: 0, chained: false });
    }
    kinds = link.kinds;
  };
  let [offset, rest] = [0, Buffer.alloc(0)];
  const take = (bytes: Buffer, last: boolean) => {
    const until = last ? bytes.length : bytes.length - HEAD_BYTES;
    for (let at = bytes.indexOf(PAGE); at >= 0 && at < until && parts.length <= most; at = bytes.indexOf(PAGE, at + 1)) {
      if (bytes[at + FLAGS_AT] !== BEGINNING) {
        if (!begun) join();
        begun = true;
        if (!dated) dated = date(bytes.subarray(at));
      } else {
        if (begun) link = { start: offset + at, kinds: '' };
        dated = false;
        begun = false;
        if (link.kinds.length < MAX_KINDS_CHARACTERS) link.kinds += `${kindOf(bytes.subarray(at))} `;
      }
    }
  };
  for await (const chunk of bytesOf(path, { signal })) {
    const bytes = Buffer.concat([rest, chunk]);
    take(bytes, false);
    if (parts.length > most) break;
    rest = bytes.subarray(Math.max(0, bytes.length - HEAD_BYTES));
    offset += bytes.length - rest.length;
  }
  take(rest, true);
  if (parts.length) parts.at(-1)!.end = offset + rest.length;
  return parts;
}

/** Samples of the packets that begin and end in a page of FLAC, and of one more, by its longest block. */
function mostSamples(page: Buffer, kind: string): bigint {
  const lengths = page.subarray(SEGMENTS_AT + 1, SEGMENTS_AT + 1 + page[SEGMENTS_AT]!);
  const packets = 1 + lengths.filter((length) => length < 255).length;
  return BigInt(packets * Number.parseInt(kind.slice(8, 12), 16));
}

/** Codec, sample rate and channels of a stream, as in the first packet of its first page. */
function kindOf(page: Buffer): string {
  const packet = page.subarray(SEGMENTS_AT + 1 + (page[SEGMENTS_AT] ?? 0));
  if (packet.toString('latin1', 0, FLAC.magic.length) === FLAC.magic)
    return `flac${packet.toString('hex', FLAC.blocks, FLAC.frames)}${packet.toString('hex', FLAC.rate, FLAC.end)}`;
  return packet.toString('hex', 0, KIND_BYTES);
}
