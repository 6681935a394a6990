import { createReadStream } from 'node:fs';

const CHUNK_BYTES = 2 ** 20;

/** The bytes of a file in order, or [start, end) of them. Throws the reason of an abort. */
export async function* bytesOf(
  path: string,
  { signal, start = 0, end = Number.POSITIVE_INFINITY }: { signal?: AbortSignal; start?: number; end?: number } = {},
): AsyncGenerator<Buffer> {
  try {
    yield* createReadStream(path, { signal, start, end: end - 1, highWaterMark: CHUNK_BYTES });
  } catch (error) {
    signal?.throwIfAborted(); // the stream throws an error of its own
    throw error;
  }
}
