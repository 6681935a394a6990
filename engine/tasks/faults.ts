/*
 * Whose fault a failure was. What says nothing about the recording must not end it: it is tried again when the machine, the database or the
 * network has recovered.
 */

const CONNECTION = /^(ECONN|EPIPE|ETIMEDOUT|EHOSTUNREACH|ENETUNREACH|ENOTFOUND|EAI_AGAIN)/;
const MACHINE = new Set(['ENOSPC', 'EDQUOT', 'EROFS', 'EIO', 'ESTALE', 'EMFILE', 'ENFILE', 'ENOMEM', 'EAGAIN']); // no room, no handles, a share that went
const STORE = /^(SlowDown|ServiceUnavailable|InternalError|RequestTimeout|TimeoutError)$/; // of S3

interface Thrown {
  code?: unknown;
  name?: unknown;
  message?: unknown;
  cause?: unknown;
  $metadata?: { httpStatusCode?: number };
}

/** The database is away: connection trouble, shutdown, restart, too many connections, a full disk, deadlock. Not the fault of the statement. */
export function databaseAway(error: unknown): boolean {
  const { code, message } = error as Thrown;
  if (typeof code === 'string' && (/^(08|53|57014|57P0|55P03|40)/.test(code) || CONNECTION.test(code))) return true;
  return /connection (terminated|ended|error)|not queryable|timeout acquiring a connection/i.test(String(message ?? ''));
}

/** The machine, the spool or the database cannot do the work at the moment, whatever the recording is. */
export function hostFault(error: unknown): boolean {
  if (typeof error !== 'object' || error === null) return false;
  const { code, name, cause, $metadata } = error as Thrown;
  if (MACHINE.has(String(code)) || STORE.test(String(name)) || ($metadata?.httpStatusCode ?? 0) >= 500) return true;
  return databaseAway(error) || hostFault(cause);
}
