/** Bytes, and the offset of the next one to read. */
export interface Reader {
  data: Uint8Array;
  at: number;
}

/** Variable-length integers: seven bits per byte, lowest first; all but the last have the highest bit set. Terms have 40 bits: no bit operators. */
export function writeNumber(out: number[], value: number): void {
  let rest = value;
  while (rest >= 128) {
    out.push((rest % 128) + 128);
    rest = Math.floor(rest / 128);
  }
  out.push(rest);
}

export function readNumber(reader: Reader): number {
  let value = 0;
  for (let scale = 1; ; scale *= 128) {
    const byte = reader.data[reader.at++]!;
    value += (byte & 127) * scale;
    if (byte < 128) return value;
  }
}
