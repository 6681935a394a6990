/**
 * Memory for `samples` floats that all threads see: a view of it is sent to another thread without a copy. It may be written again as soon as
 * that thread has answered. Allocating samples anew for each unit keeps the garbage collector busy and fragments the heap.
 */
export function sharedSamples(samples: number): Float32Array {
  return new Float32Array(new SharedArrayBuffer(samples * Float32Array.BYTES_PER_ELEMENT));
}

/** Buffers of one size that are lent for a while. There come to be as many as were ever lent at once. */
export class BufferPool {
  readonly #samples: number;
  readonly #free: Float32Array[] = [];

  constructor(samples: number) {
    this.#samples = samples;
  }

  /** Lends a buffer until `work` has ended. */
  async lend<T>(work: (buffer: Float32Array) => Promise<T>): Promise<T> {
    const buffer = this.#free.pop() ?? sharedSamples(this.#samples);
    try {
      return await work(buffer);
    } finally {
      this.#free.push(buffer);
    }
  }
}
