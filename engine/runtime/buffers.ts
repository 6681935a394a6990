/**
 * Allocates shared memory for `samples` floats: views of it are passed to worker threads without copying. Reuse it only after that thread
 * has answered. Allocating per unit would keep the garbage collector busy and fragment the heap.
 */
export function sharedSamples(samples: number): Float32Array {
  return new Float32Array(new SharedArrayBuffer(samples * Float32Array.BYTES_PER_ELEMENT));
}

/** A pool of equally sized buffers. It grows to the largest number lent at the same time and never shrinks. */
export class BufferPool {
  readonly #samples: number;
  readonly #free: Float32Array[] = [];

  constructor(samples: number) {
    this.#samples = samples;
  }

  /** Lends a buffer to `work` and takes it back when that settles. */
  async lend<T>(work: (buffer: Float32Array) => Promise<T>): Promise<T> {
    const buffer = this.#free.pop() ?? sharedSamples(this.#samples);
    try {
      return await work(buffer);
    } finally {
      this.#free.push(buffer);
    }
  }
}
