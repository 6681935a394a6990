/** Reads what ffmpeg's Matroska muxer writes to a pipe: the one track of PCM in it, block by block. Our own ffmpeg wrote it, yet every size is checked. */

/** What came out of the pipe. */
export type Event = { channels: number } | Block;

export interface Block {
  /** Milliseconds, as the muxer was given them. */
  time: number;
  /** Bytes of whole sample frames; several pieces of one block have its time. */
  data: Uint8Array;
}

const MASTERS = new Set([0x18538067, 0x1654ae6b, 0xae, 0xe1, 0x1f43b675, 0xa0]); // Segment, Tracks, TrackEntry, Audio, Cluster, BlockGroup
const CHANNELS = 0x9f;
const TIMESTAMP = 0xe7;
const SIMPLE_BLOCK = 0xa3;
const BLOCK = 0xa1;
const LONGEST = 2 ** 20; // bytes of one element; a longer block is given in pieces

/** A parser that is given bytes as they arrive. */
export class MatroskaReader {
  #held: Uint8Array = new Uint8Array(0);
  #channels = 1;
  #cluster = 0; // time of the cluster at hand
  #time = 0; // of the block at hand …
  #left = 0; // … and bytes of it that are still to come

  /** What the bytes so far complete. Throws when they are no Matroska. */
  *push(bytes: Uint8Array): Generator<Event> {
    const data = this.#held.length ? Buffer.concat([this.#held, bytes]) : bytes;
    let at = 0;
    for (;;) {
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
      } else if (MASTERS.has(id.value))
        at = body; // its children follow
      else {
        if (size.value > LONGEST)
          throw new Error(`Cannot read the decoder's output: an element of ${size.value} bytes, at most ${LONGEST} are wanted`);
        if (body + size.value > data.length) break;
        at = body + size.value;
        if (id.value === TIMESTAMP) this.#cluster = unsigned(data.subarray(body, at));
        if (id.value !== CHANNELS) continue;
        this.#channels = Math.max(1, unsigned(data.subarray(body, at)));
        yield { channels: this.#channels };
      }
    }
    this.#held = data.slice(at); // a copy: the caller's buffer may be used again
  }

  /** Reads the head of a block: track number, time, flags. Its length; null where bytes are missing. */
  #head(data: Uint8Array, at: number): number | null {
    const track = number(data, at, true);
    if (!track || at + track.length + 3 > data.length) return null;
    const offset = (((data[at + track.length]! << 8) | data[at + track.length + 1]!) << 16) >> 16;
    this.#time = this.#cluster + offset;
    return track.length + 3;
  }

  /** Bytes of the block at hand that are given now: all of it, or what is there of a long one, in whole sample frames. */
  #piece(available: number): number {
    if (available >= this.#left) return this.#left;
    if (this.#left <= LONGEST || available < LONGEST / 2) return 0;
    return available - (available % (this.#channels * Float32Array.BYTES_PER_ELEMENT));
  }
}

/** A number of variable length: an element's id, or without its length marker a size. Null where bytes are missing. */
function number(bytes: Uint8Array, at: number, unmarked: boolean): { value: number; length: number } | null {
  const first = bytes[at];
  if (first === undefined) return null;
  const length = Math.clz32(first) - 23;
  if (length > 8) throw new Error("Cannot read the decoder's output: it is no Matroska");
  if (at + length > bytes.length) return null;
  let value = unmarked ? first & (0xff >> length) : first;
  for (let i = 1; i < length; i++) value = value * 256 + bytes[at + i]!;
  return { value, length };
}

function unsigned(bytes: Uint8Array): number {
  return bytes.reduce((value, byte) => value * 256 + byte, 0);
}
