import type { RawResponse } from './raw-response.ts';

/** How reading a body ended. */
export type Ending = 'complete' | 'aborted' | 'stalled' | 'late';

/** The body of a request, buffered until it is read. */
export interface Body {
  /** Whether all of it has arrived. */
  readonly complete: boolean;
  /** Reads the whole body into memory; null if it exceeds `limit` bytes, was aborted, stalled for 10 s or took more than a minute. */
  read(limit: number): Promise<Buffer | null>;
  /**
   * Passes chunks to `sink` one at a time and awaits it, which provides back-pressure. Ends `stalled` after `stallMs` without data, `late`
   * after `totalMs` since the headers. Rejects if `sink` does.
   */
  consume(sink: (chunk: Buffer) => Promise<void>, limits: { stallMs: number; totalMs: number }): Promise<Ending>;
  /** Drops buffered and future data; calls `done` after the last byte. */
  discard(done: () => void): void;
  /** Milliseconds since the last byte, or since the headers. */
  silentMs(): number;
  /** The connection is lost; the raw response must not be used any more. */
  abort(): void;
  /** The response was sent: stops the timer. */
  close(): void;
}

const HELD_BYTES = 262_144; // beyond this the socket is paused
const FLIP_MS = 3_000;
const SMALL = { stallMs: 10_000, totalMs: 60_000 }; // for a body that is read into memory
const TOO_LONG = new Error('The body is longer than the limit');

/**
 * Attaches to the body in the same tick as the request, because the first chunk would be lost otherwise, and pauses it: nothing is read
 * from the socket before `read` or `consume`. uWebSockets closes a connection whose body stalls for 10 s, and counts our own pause as a
 * stall. Pausing and resuming in one tick restarts its timeout, so a timer does that while the body is open.
 */
export function attachBody(raw: Pick<RawResponse, 'pause' | 'resume' | 'onData'>): Body {
  const start = performance.now();
  let queue: Buffer[] = [];
  let queued = 0;
  let held = true;
  let complete = false;
  let aborted = false;
  let over = false; // the raw response must not be used
  let dropping: (() => void) | null = null;
  let lastAt = start;
  let wake: (() => void) | null = null;

  const flip = setInterval(() => {
    if (held) {
      raw.resume();
      raw.pause();
    } else {
      raw.pause();
      raw.resume();
    }
  }, FLIP_MS);
  const stop = () => {
    over = true;
    clearInterval(flip);
  };
  const hold = () => {
    if (held || over || complete) return;
    held = true;
    raw.pause();
  };
  const release = () => {
    if (!held || over || complete) return;
    held = false;
    lastAt = performance.now();
    raw.resume();
  };
  const rouse = () => {
    wake?.();
    wake = null;
  };
  const finish = () => {
    if (!held) raw.pause(); // until the response is sent: see response.ts
    complete = true;
    clearInterval(flip);
  };

  raw.onData((chunk, last) => {
    if (over) return;
    lastAt = performance.now();
    if (chunk.byteLength && !dropping) {
      queue.push(Buffer.from(Buffer.from(chunk))); // a copy: uWebSockets reuses the memory afterwards
      queued += chunk.byteLength;
      if (queued >= HELD_BYTES) hold();
    }
    if (last) finish();
    rouse();
    if (last) dropping?.();
  });
  raw.pause();

  /** Resolves at the next event of the body, or after `ms`. */
  const event = (ms: number) =>
    new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, Math.max(0, ms));
      wake = () => {
        clearTimeout(timer);
        resolve();
      };
    });

  async function consume(sink: (chunk: Buffer) => Promise<void>, limits: { stallMs: number; totalMs: number }): Promise<Ending> {
    release();
    for (;;) {
      const chunk = queue.shift();
      if (chunk) {
        queued -= chunk.length;
        await sink(chunk);
        if (queued < HELD_BYTES) release();
      } else if (complete) return 'complete';
      if (aborted && !complete) return 'aborted'; // a complete body counts even if the client has disconnected
      const now = performance.now();
      const late = start + limits.totalMs - now;
      if (late <= 0 && !complete) return 'late';
      if (queue.length || complete) continue;
      const stalled = lastAt + limits.stallMs - now;
      if (stalled <= 0) return 'stalled';
      await event(Math.min(late, stalled));
    }
  }

  return {
    get complete() {
      return complete;
    },
    consume,
    async read(limit) {
      const chunks: Buffer[] = [];
      let bytes = 0;
      const ending = await consume(async (chunk) => {
        bytes += chunk.length;
        if (bytes > limit) throw TOO_LONG;
        chunks.push(chunk);
      }, SMALL).catch((error: unknown) => {
        if (error === TOO_LONG) return 'late' as const;
        throw error;
      });
      return ending === 'complete' ? Buffer.concat(chunks) : null;
    },
    discard(done) {
      dropping = done;
      queue = [];
      queued = 0;
      if (complete) return done();
      release();
    },
    silentMs: () => performance.now() - lastAt,
    abort() {
      aborted = true;
      stop();
      rouse();
    },
    close: stop,
  };
}
