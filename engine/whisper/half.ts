/** bfloat16, the upper halves of float32: half the memory for numbers of which three digits matter. */

/** `length` values from `from` on. */
export function toHalves(values: Float32Array, from: number, length: number): Uint16Array {
  const words = new Uint32Array(values.buffer, values.byteOffset, values.length);
  const halves = new Uint16Array(length);
  for (let i = 0; i < length; i++) halves[i] = words[from + i]! >>> 16;
  return halves;
}

export function fromHalves(halves: Uint16Array): Float32Array {
  const words = new Uint32Array(halves.length);
  for (let i = 0; i < halves.length; i++) words[i] = halves[i]! << 16;
  return new Float32Array(words.buffer);
}
