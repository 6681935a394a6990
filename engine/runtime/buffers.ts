/**
 * Memory for `samples` floats that all threads see: a view of it is sent to another thread without a copy. It may be written again as soon as
 * that thread has answered. What allocated its samples anew for every unit of work kept the collectors of garbage busy, and left holes.
 */
export function makeRoom(samples: number): Float32Array {
  return new Float32Array(new SharedArrayBuffer(samples * Float32Array.BYTES_PER_ELEMENT));
}

/** Rooms of one size that are lent to whoever needs one for a while. There come to be as many as were ever lent at once. */
export class Rooms {
  readonly #samples: number;
  readonly #free: Float32Array[] = [];

  constructor(samples: number) {
    this.#samples = samples;
  }

  /** Lends a room until `work` has ended. */
  async lend<T>(work: (room: Float32Array) => Promise<T>): Promise<T> {
    const room = this.#free.pop() ?? makeRoom(this.#samples);
    try {
      return await work(room);
    } finally {
      this.#free.push(room);
    }
  }
}
