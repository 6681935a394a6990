/** Timeouts of a call. */
export interface Patience {
  /** Without a byte: a server is silent while it reads a long prompt or works on other requests. */
  silentSeconds: number;
  /** Total. */
  totalSeconds: number;
}

/** Abort reason: timeout. */
export class OutOfPatience extends Error {
  readonly seconds: number;
  constructor(seconds: number) {
    super(`no end within ${seconds} s`);
    this.seconds = seconds;
  }
}

/**
 * Runs `work` with a controller that aborts with OutOfPatience, or as `signal` does. `heard` restarts the timeout for silence. Throws the
 * reason of the abort, whatever the work does with it.
 */
export async function patiently<T>(
  { silentSeconds, totalSeconds }: Patience,
  signal: AbortSignal,
  work: (limit: AbortController, heard: () => void) => Promise<T>,
): Promise<T> {
  signal.throwIfAborted();
  const limit = new AbortController();
  const after = (seconds: number) => setTimeout(() => limit.abort(new OutOfPatience(seconds)), seconds * 1000);
  const silence = after(silentSeconds);
  const total = after(totalSeconds);
  const leave = () => limit.abort(signal.reason);
  signal.addEventListener('abort', leave, { once: true });
  try {
    return await work(limit, () => void silence.refresh());
  } catch (error) {
    throw limit.signal.aborted ? limit.signal.reason : error;
  } finally {
    clearTimeout(silence);
    clearTimeout(total);
    signal.removeEventListener('abort', leave);
  }
}
