import { fileURLToPath } from 'node:url';
import { Piscina } from 'piscina';
import { ApiError } from '../../contract/errors.ts';
import type { DocumentFormat } from '../../contract/formats.ts';
import type { Content } from './blocks.ts';

const AT_ONCE = 2; // each uses a core and, for ten hours of speech, several hundred megabytes
const WAITING = 8;
const HEAP_MB = 1024;
const IDLE_MS = 15_000; // fonts and libraries are released after that
const RETRY_SECONDS = 10;

let threads: Piscina | undefined;

/**
 * Renders a document on another thread. Throws `service_unavailable` if too many are in progress, unless `begun`: part of an archive has been
 * sent, so that this one waits for its turn.
 */
export async function makeDocument(content: Content, format: DocumentFormat, signal: AbortSignal, begun = false): Promise<Uint8Array> {
  threads ??= new Piscina({
    filename: fileURLToPath(new URL('./worker.mjs', import.meta.url)),
    name: 'make',
    minThreads: 0,
    maxThreads: AT_ONCE,
    idleTimeout: IDLE_MS,
    resourceLimits: { maxOldGenerationSizeMb: HEAP_MB },
  });
  if (!begun && threads.queueSize >= WAITING) throw new ApiError('service_unavailable', { retryAfterSeconds: RETRY_SECONDS });
  return threads.run({ content, format }, { signal });
}
