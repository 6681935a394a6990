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

/** Renders a document on another thread. Throws `service_unavailable` if too many are in progress. */
export async function makeDocument(content: Content, format: DocumentFormat, signal: AbortSignal): Promise<Uint8Array> {
  threads ??= new Piscina({
    filename: fileURLToPath(new URL('./worker.mjs', import.meta.url)),
    name: 'make',
    minThreads: 0,
    maxThreads: AT_ONCE,
    maxQueue: WAITING,
    idleTimeout: IDLE_MS,
    resourceLimits: { maxOldGenerationSizeMb: HEAP_MB },
  });
  if (threads.queueSize >= WAITING) throw new ApiError('service_unavailable', { retryAfterSeconds: RETRY_SECONDS });
  return threads.run({ content, format }, { signal });
}
