import { fileURLToPath } from 'node:url';
import { Piscina } from 'piscina';
import { ApiError } from '../../contract/errors.ts';
import type { DocumentFormat } from '../../contract/formats.ts';
import type { Content } from './content.ts';

const AT_ONCE = 2; // each takes a core and, for ten hours of talk, some hundred megabytes
const WAITING = 8;
const HEAP_MB = 1024;
const IDLE_MS = 15_000; // fonts and libraries are forgotten after that
const RETRY_SECONDS = 10;

let threads: Piscina | undefined;

/** Makes a document on another thread. Throws `service_unavailable` when too many are being made. */
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
