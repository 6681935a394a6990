/* Classifies failures. A fault that is not caused by the recording must not fail it: the work is retried when the machine, the database or
   the network has recovered. */

import { databaseAway } from '../../db/postgres/away.ts';
import { NO_KEY } from '../../db/secrets/vault.ts';

const MACHINE = new Set(['ENOSPC', 'EDQUOT', 'EROFS', 'EIO', 'ESTALE', 'EMFILE', 'ENFILE', 'ENOMEM', 'EAGAIN']); // disk full, no file handles, network share lost
const STORE = /^(SlowDown|ServiceUnavailable|InternalError|RequestTimeout|TimeoutError)$/; // S3 error codes

interface Thrown {
  code?: unknown;
  name?: unknown;
  cause?: unknown;
  $metadata?: { httpStatusCode?: number };
}

/** The machine, the spool or the database is temporarily unable to do the work, or the engine lacks a master key, whatever the recording. */
export function hostFault(error: unknown): boolean {
  if (typeof error !== 'object' || error === null) return false;
  const { code, name, cause, $metadata } = error as Thrown;
  if (MACHINE.has(String(code)) || code === NO_KEY || STORE.test(String(name)) || ($metadata?.httpStatusCode ?? 0) >= 500) return true;
  return databaseAway(error) || hostFault(cause);
}
