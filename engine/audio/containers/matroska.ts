/**
 * Parses the Matroska stream that ffmpeg writes to a pipe: a single PCM track, block by block. Although our own ffmpeg wrote it, every size
 * is checked.
 */

/** A parsed element of the stream. */
export type Event = { channels: number } | Block;

export interface Block {
  /** Milliseconds, as passed to the muxer. */
  time: number;
  /** Whole sample frames; pieces of one block share its timestamp. */
  data: Uint8Array;
}

const MASTER_IDS = new Set([0x18538067, 0x1654ae6b, 0xae, 0xe1, 0x1f43b675, 0xa0]); // Segment, Tracks, TrackEntry, Audio, Cluster, BlockGroup
const CHANNELS = 0x9f;
const TIMESTAMP = 0xe7;
const SIMPLE_BLOCK = 0xa3;
const BLOCK = 0xa1;
const PIECE_BYTES = 2 ** 20; // longer blocks are delivered in pieces
const MAX_NUMBER_BYTES = 8; // bytes of an integer
const MAX_SKIPPED_BYTES = 2 ** 28; // bytes of any other element: more than ffmpeg may allocate

/** Incremental parser. */
export class MatroskaReader {
  #held: Uint8Array = new Uint8Array(0);
  #channels = 1;
  #cluster = 0; // timestamp of the current cluster
  #time = 0; // timestamp of the current block
  #left = 0; // bytes of it still to come
  #skipped = 0; // bytes still to come of an element without meaning here

  /** Yields what the bytes so far complete. Throws if they are not Matroska. */
  *push(bytes: Uint8Array): Generator<Event> {
    const data = this.#held.length ? Buffer.concat([this.#held, bytes]) : bytes;
    let at = 0;
    for (;;) {
      if (this.#skipped) {
        const gone = Math.min(this.#skipped, data.length - at);
        this.#skipped -= gone;
        at += gone;
        if (this.#skipped) break;
      }
      if (this.#left) {
        const piece = this.#piece(data.length - at);
        if (!piece) break;
        yield { time: this.#time, data: data.subarray(at, at + piece) };
        this.#left -= piece;
        at += piece;
        continue;
      }
      const id = number(data, at, false);
      const size = id && number(data, at + id.length, true);
      if (!id || !size) break;
      const body = at + id.length + size.length;
      if (id.value === SIMPLE_BLOCK || id.value === BLOCK) {
        const head = this.#head(data, body);
        if (!head) break;
        this.#left = size.value - head;
        at = body + head;
      } else if (MASTER_IDS.has(id.value))
        at = body; // descend into its children
      else if (id.value === TIMESTAMP || id.value === CHANNELS) {
        checkSize(size.value, MAX_NUMBER_BYTES);
        if (body + size.value > data.length) break;
        at = body + size.value;
        const value = unsigned(data.subarray(body, at));
        if (id.value === TIMESTAMP) this.#cluster = value;
        else {
          this.#channels = Math.max(1, value);
          yield { channels: this.#channels };
        }
      } else {
        checkSize(size.value, MAX_SKIPPED_BYTES);
        this.#skipped = size.value;
        at = body;
      }
    }
    this.#held = data.slice(at); // a copy: the caller may reuse its buffer
  }

  /** Reads a block header: track number, timestamp, flags. Returns its length, or null if bytes are missing. */
  #head(data: Uint8Array, at: number): number | null {
    const track = number(data, at, true);
    if (!track || at + track.length + 3 > data.length) return null;
    const offset = (((data[at + track.length]! << 8) | data[at + track.length + 1]!) << 16) >> 16;
    this.#time = this.#cluster + offset;
    return track.length + 3;
  }

  /** Bytes of the current block to deliver now, in whole sample frames: all of it, or what has arrived of a long one. */
  #piece(available: number): number {
    if (available >= this.#left) return this.#left;
    if (this.#left <= PIECE_BYTES || available < PIECE_BYTES / 2) return 0;
    return available - (available % (this.#channels * Float32Array.BYTES_PER_ELEMENT));
  }
}

function checkSize(bytes: number, most: number): void {
  if (bytes > most) throw new Error(`Cannot read the decoder's output: an element of ${bytes} bytes, the maximum is ${most}`);
}

/** A variable-length integer: an element id, or with `unmarked` a size without its length marker. Null if bytes are missing. */
export function number(bytes: Uint8Array, at: number, unmarked: boolean): { value: number; length: number } | null {
  const first = bytes[at];
  if (first === undefined) return null;
  const length = Math.clz32(first) - 23;
  if (length > 8) throw new Error("Cannot read the decoder's output: it is not Matroska");
  if (at + length > bytes.length) return null;
  let value = unmarked ? first & (0xff >> length) : first;
  for (let i = 1; i < length; i++) value = value * 256 + bytes[at + i]!;
  return { value, length };
}

function unsigned(bytes: Uint8Array): number {
  return bytes.reduce((value, byte) => value * 256 + byte, 0);
}
