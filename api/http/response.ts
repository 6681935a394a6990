import { STATUS_CODES } from 'node:http';
import { setImmediate as tick } from 'node:timers/promises';
import type { Body } from './body.ts';
import type { RawResponse } from './raw-response.ts';
import type { Reply } from './route.ts';
import { sendSized } from './sized-stream.ts';

/** The connection of one request: once `over` is true the raw response must not be used. */
export interface Life {
  over: boolean;
  /** Called once if the connection is lost before the response is complete. */
  onLost: Set<() => void>;
  /** The response is being sent. */
  answering: boolean;
  /** We have sent a `100 Continue`: see `sendContinue`. */
  continued: boolean;
}

const DRAIN_MS = 30_000; // many clients start to read only after they have sent everything
const SILENCE_MS = 5_000; // a client that sends nothing for this long is reading, or gone
const MOST_DRAINING = 1_000; // draining connections; above this the oldest are closed

/** Draining connections by their closing function, oldest first. */
const draining = new Set<() => void>();

/* uWebSockets closes a connection on which a request arrives before the previous one has been answered. Therefore nothing is read from a
   connection until its response is sent: a pipelined request waits in the socket, unless it arrived in the same TCP segment. */

/** Sends a response once. Throws before sending anything if a header value contains a line break or NUL. */
export async function send(raw: RawResponse, life: Life, reply: Reply, body: Body | null, head: boolean): Promise<void> {
  if (life.over) return;
  life.answering = true;
  for (const [name, value] of Object.entries(reply.headers ?? {})) {
    if (/[\r\n\0]/.test(value)) throw new Error(`Cannot send the header ${name}: its value contains a line break or NUL`);
  }
  if (body && !body.complete) await tick(); // whatever came in the same packet as the headers has arrived then
  if (life.over) return;
  if (body && !body.complete) {
    if (!reply.stream && !(reply.body instanceof Uint8Array)) return sendEarly(raw, life, reply, body, head);
    body.discard(() => {});
  }
  body?.close();
  if (reply.stream) return sendStream(raw, life, reply, head);
  raw.cork(() => {
    raw.resume();
    writeHead(raw, reply, life);
    if (head) endEmpty(raw, length(reply));
    else if (reply.body === undefined) endEmpty(raw, bodiless(reply.status) ? undefined : 0);
    else raw.end(utf8(reply.body));
  });
  life.over = true;
}

/**
 * Sends `100 Continue` to clients with a capitalised `Expect` value, such as Java's; uWebSockets only recognises lower case. The status
 * line followed by an empty line is the complete interim response; the final status line is then sent as part of its first header (see
 * `writeHead`).
 */
export function sendContinue(raw: RawResponse, life: Life): void {
  life.continued = true;
  raw.cork(() => raw.writeStatus('100 Continue\r\n'));
}

/**
 * Responds while the body is still arriving: sends the whole response at once, then drops data until the body is complete, the client is
 * silent, or 30 s have passed; then closes the connection. Closing immediately could reset the connection and destroy the response, and
 * `end` closes immediately if the client asked for `Connection: close`. The response is therefore sent as the end of the last header:
 * uWebSockets still considers the response open and we control when to `close`. It ends with the line break that uWebSockets adds to a
 * header, which is white space in JSON and included in the length.
 */
async function sendEarly(raw: RawResponse, life: Life, reply: Reply, body: Body, head: boolean): Promise<void> {
  const text = reply.body as string | undefined;
  raw.cork(() => {
    writeHead(raw, reply, life);
    if (head || bodiless(reply.status)) raw.writeHeader('connection', 'close\r\n');
    else {
      raw.writeHeader('connection', 'close');
      raw.writeHeader('content-length', utf8(`${Buffer.byteLength(text ?? '') + 2}\r\n\r\n${text ?? ''}`));
    }
  });
  await drained(life, body);
  await tick(); // outside the callback of the last chunk
  body.close();
  if (!life.over) {
    life.over = true;
    raw.close();
  }
}

function drained(life: Life, body: Body): Promise<void> {
  return new Promise((resolve) => {
    const finish = () => {
      clearTimeout(late);
      clearInterval(silent);
      draining.delete(finish);
      resolve();
    };
    const late = setTimeout(finish, DRAIN_MS);
    const silent = setInterval(() => body.silentMs() >= SILENCE_MS && finish(), 500);
    if (draining.size >= MOST_DRAINING) draining.values().next().value!();
    draining.add(finish);
    life.onLost.add(finish);
    body.discard(finish);
  });
}

/**
 * Streams chunks as they come and as the client reads them. If the source fails, the connection is closed and the client sees a truncated
 * body.
 */
async function sendStream(raw: RawResponse, life: Life, reply: Reply, head: boolean): Promise<void> {
  if (head) {
    raw.cork(() => {
      raw.resume();
      writeHead(raw, reply, life);
      endEmpty(raw, reply.length);
    });
    life.over = true;
    return;
  }
  if (reply.length !== undefined) {
    raw.cork(() => {
      raw.resume(); // as below
      writeHead(raw, reply, life);
    });
    return sendSized(raw, life, reply.stream!, reply.length).catch((error: unknown) => closeTruncated(raw, life, error));
  }
  let proceed: (() => void) | null = null;
  raw.onWritable(() => {
    proceed?.();
    return true;
  });
  life.onLost.add(() => proceed?.());
  raw.cork(() => {
    raw.resume(); // now, because uWebSockets does not wake a paused connection that had to wait for its client
    writeHead(raw, reply, life);
  });
  try {
    for await (const chunk of reply.stream!) {
      if (life.over) return;
      if (!chunk.length) continue;
      let room = true;
      await new Promise<void>((resolve) => {
        proceed = resolve;
        raw.cork(() => {
          room = raw.write(chunk);
        });
        if (room) resolve();
      });
    }
    if (life.over) return;
    life.over = true;
    raw.cork(() => raw.end());
  } catch (error) {
    closeTruncated(raw, life, error);
  }
}

function closeTruncated(raw: RawResponse, life: Life, error: unknown): never {
  if (!life.over) {
    life.over = true;
    raw.close();
  }
  throw error;
}

/** Ends the response without a body. A length of `undefined` would be sent as 2^63. */
function endEmpty(raw: RawResponse, length: number | undefined): void {
  if (length === undefined) raw.endWithoutBody();
  else raw.endWithoutBody(length);
}

function writeHead(raw: RawResponse, reply: Reply, life: Life): void {
  const status = `${reply.status} ${STATUS_CODES[reply.status] ?? 'Status'}`;
  const headers = Object.entries(reply.headers ?? {});
  if (life.continued) {
    const [name, value] = headers.shift() ?? ['content-language', 'en']; // after a status line, the next one becomes part of a header name
    raw.writeHeader(`HTTP/1.1 ${status}\r\n${name}`, utf8(value));
  } else raw.writeStatus(status);
  for (const [name, value] of headers) raw.writeHeader(name, utf8(value));
}

/** Encodes text as bytes: on Node 24 uWebSockets sends strings within Latin-1 as Latin-1. */
function utf8(text: string | Uint8Array): Uint8Array {
  return typeof text === 'string' ? Buffer.from(text) : text;
}

function bodiless(status: number): boolean {
  return status === 204 || status === 304;
}

/** The Content-Length; unknown for a 304 and a stream. */
function length(reply: Reply): number | undefined {
  return reply.body === undefined ? undefined : Buffer.byteLength(reply.body);
}
