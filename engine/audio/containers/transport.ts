export const PACKET_BYTES = 188; // without a timestamp before, or a checksum after it
const SYNC = 0x47; // first byte of a packet
const SIZES = [PACKET_BYTES, 192, 204];
const LOOK_AHEAD_BYTES = 204 * 5; // that show the size of the packets

interface Packet {
  /** Position in the file. */
  at: number;
  packet: Buffer;
}

/** The packets of an MPEG transport stream that are wanted, from bytes as they arrive. */
export class TransportReader {
  #wanted: (data: Buffer, at: number) => boolean;
  #held: Buffer = Buffer.alloc(0);
  #offset = 0; // of these bytes in the file
  #size = 0; // of a packet, once known

  constructor(wanted: (data: Buffer, at: number) => boolean) {
    this.#wanted = wanted;
  }

  *push(bytes: Buffer): Generator<Packet> {
    const data = Buffer.concat([this.#held, bytes]);
    let at = 0;
    for (; at + LOOK_AHEAD_BYTES <= data.length; at += this.#size || 1) {
      if (!this.#size || data[at] !== SYNC) this.#size = sizeAt(data, at);
      if (this.#size && this.#wanted(data, at)) yield { at: this.#offset + at, packet: data.subarray(at, at + PACKET_BYTES) };
    }
    this.#held = data.subarray(at);
    this.#offset += at;
  }
}

/** Whether a file that begins so is a transport stream. */
export function isTransport(head: Buffer): boolean {
  return SIZES.some((size) => Array.from({ length: size }, (_, at) => at).some((at) => sizeAt(head, at) === size));
}

/** Number of the stream that a packet belongs to. */
export function packetId(packet: Buffer): number {
  return packet.readUInt16BE(1) & 0x1fff;
}

/** Size of the packets, by four in a row; 0 if there are none here. */
function sizeAt(data: Buffer, at: number): number {
  return SIZES.find((size) => [0, 1, 2, 3].every((i) => data[at + i * size] === SYNC)) ?? 0;
}
