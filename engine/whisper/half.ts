/**
 * `length` values from `from` on as bfloat16, the upper halves of float32: half the memory for numbers of which two digits matter. Shifting a
 * half left by 16 gives the bits of a float32 again.
 */
export function toHalves(values: Float32Array, from = 0, length = values.length): Uint16Array {
  const bits = new Uint32Array(values.buffer, values.byteOffset, values.length);
  const halves = new Uint16Array(length);
  for (let i = 0; i < length; i++) halves[i] = bits[from + i]! >>> 16;
  return halves;
}
