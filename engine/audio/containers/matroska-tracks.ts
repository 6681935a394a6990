import { number } from './matroska.ts';

const [HEADER, DOCUMENT_TYPE, SEGMENT, CLUSTER] = [0x1a45dfa3, 0x4282, 0x18538067, 0x1f43b675];
const [TRACKS, TRACK, TYPE, AUDIO_TYPE] = [0x1654ae6b, 0xae, 0x83, 2];
const PROPERTIES = new Set([0xd7, 0x86, 0x63a2, 0xe1]); // number, codec, its settings, sample rate and channels
const MAX_ELEMENTS = 1000; // read in one place

interface Element {
  id: number;
  data: Buffer;
}

/** Audio tracks of a Matroska or WebM file, with all that its decoders need to know, by its beginning. Null if this is none. */
export function tracksOf(bytes: Buffer): string | null {
  const [header, segment] = elements(bytes);
  if (header?.id !== HEADER || segment?.id !== SEGMENT || !elements(header.data).some(({ id }) => id === DOCUMENT_TYPE)) return null;
  const tracks = elements(segment.data, CLUSTER).find(({ id }) => id === TRACKS);
  const audio = elements(tracks?.data ?? Buffer.alloc(0))
    .filter(({ id }) => id === TRACK)
    .map(({ data }) => elements(data))
    .filter((track) => track.some(({ id, data }) => id === TYPE && data.at(-1) === AUDIO_TYPE));
  const described = audio.map((track) =>
    track.filter(({ id }) => PROPERTIES.has(id)).map(({ id, data }) => `${id}:${data.toString('hex')}`),
  );
  return described.map((properties) => properties.join(' ')).join('\n');
}

/** The elements that follow one another in `bytes`, up to one of the type `until`; the last may be cut off. */
function elements(bytes: Buffer, until?: number): Element[] {
  const found: Element[] = [];
  for (let at = 0; at < bytes.length && found.length < MAX_ELEMENTS; ) {
    if (!(bytes[at]! >> 4)) break; // identifiers have up to 4 bytes
    const id = number(bytes, at, false);
    const size = id && bytes[at + id.length] ? number(bytes, at + id.length, true) : null;
    if (!id || !size || id.value === until) break;
    const from = at + id.length + size.length;
    at = size.value === 2 ** (7 * size.length) - 1 ? bytes.length : from + size.value; // that is of unknown size
    found.push({ id: id.value, data: bytes.subarray(from, at) });
  }
  return found;
}
