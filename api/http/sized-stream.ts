import type { RawResponse } from './raw-response.ts';

/** As in response.ts. */
interface Connection {
  over: boolean;
  onLost: Set<() => void>;
}

/**
 * Streams chunks under a Content-Length of `total` bytes, as fast as the client reads them: of what it has not read yet only one chunk is
 * held. Returns early if the connection is lost. Throws if the source ends before `total`.
 */
export async function sendSized(raw: RawResponse, life: Connection, source: AsyncIterable<Uint8Array>, total: number): Promise<void> {
  let written = 0; // bytes of earlier chunks
  let chunk: Uint8Array = new Uint8Array();
  let proceed = () => {};
  const push = (rest: Uint8Array): boolean => {
    const [accepted, done] = raw.tryEnd(rest, total);
    if (done) life.over = true;
    if (accepted || done) proceed();
    return accepted || done;
  };
  raw.onWritable((offset) => life.over || push(chunk.subarray(offset - written)));
  life.onLost.add(() => proceed());
  for await (const next of source) {
    if (life.over) return;
    if (!next.length) continue;
    chunk = next;
    await new Promise<void>((resolve) => {
      proceed = resolve;
      raw.cork(() => push(chunk));
    });
    written += chunk.length;
    if (life.over) return;
  }
  throw new Error(`Cannot send the whole body: it has ${written} of ${total} bytes`);
}
