/**
 * Memory for `samples` floats that all threads see: a view of it is sent to another thread without a copy. It may be written again as soon as
 * that thread has answered. What allocated its samples anew for every unit of work kept the collectors of garbage busy, and left holes.
 */
export function makeRoom(samples: number): Float32Array {
  return new Float32Array(new SharedArrayBuffer(samples * Float32Array.BYTES_PER_ELEMENT));
}
