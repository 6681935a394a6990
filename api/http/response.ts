import { STATUS_CODES } from 'node:http';
import { setImmediate as tick } from 'node:timers/promises';
import type { Body } from './body.ts';
import type { Reply } from './route.ts';

/** What is used of a uWebSockets response. Touching it after an abort or after the end throws: see `Life`. */
export interface RawResponse {
  pause(): unknown;
  resume(): unknown;
  onData(handler: (chunk: ArrayBuffer, last: boolean) => void): unknown;
  onAborted(handler: () => void): unknown;
  onWritable(handler: (offset: number) => boolean): unknown;
  cork(work: () => void): unknown;
  writeStatus(status: string): unknown;
  writeHeader(name: string, value: string | Uint8Array): unknown;
  write(chunk: Uint8Array): boolean;
  end(body?: Uint8Array, close?: boolean): unknown;
  endWithoutBody(length?: number, close?: boolean): unknown;
  close(): unknown;
  getRemoteAddressAsText(): ArrayBuffer;
}

/** The connection of one request: `over` is true once the raw response may not be touched. */
export interface Life {
  over: boolean;
  /** Runs once when the connection is lost before the answer is complete. */
  onLost: Set<() => void>;
  /** The answer is on its way. */
  answering: boolean;
  /** A `100 Continue` of ours went out: see `sendContinue`. */
  continued: boolean;
}

const DRAIN_MS = 30_000; // many clients read only after they have sent everything
const SILENCE_MS = 5_000; // one that sends nothing for so long is reading, or gone
const MOST_DRAINING = 1_000; // connections that drain; beyond that the oldest are closed

/** The connections that drain, each with what ends that; the oldest first. */
const draining = new Set<() => void>();

/*
 * uWebSockets closes a connection on which a request arrives while the one before is unanswered. So nothing is read from a connection until
 * its request is answered: one that is sent ahead waits in the socket, unless it came in the same segment.
 */

/** Sends a reply, once. Throws before anything is sent when a header's value holds a line break or NUL. */
export async function send(raw: RawResponse, life: Life, reply: Reply, body: Body | null, head: boolean): Promise<void> {
  if (life.over) return;
  life.answering = true;
  for (const [name, value] of Object.entries(reply.headers ?? {})) {
    if (/[\r\n\0]/.test(value)) throw new Error(`Cannot send the header ${name}: its value holds a line break or NUL`);
  }
  if (body && !body.complete) await tick(); // what came in the same packet as the head is here now
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
 * Says `100 Continue` to a client that spells its expectation in capitals, as Java's does: uWebSockets answers lower case only. The status line with
 * an empty line behind it is that whole answer; the status line of the final one then goes out before its first header (see `writeHead`).
 */
export function sendContinue(raw: RawResponse, life: Life): void {
  life.continued = true;
  raw.cork(() => raw.writeStatus('100 Continue\r\n'));
}

/**
 * Answers while the body still comes: the whole answer at once, then what comes is dropped until all has come, until the client falls silent, or for
 * 30 s at most; then the connection closes. Closing at once could reset the connection and destroy the answer, and `end` closes at once when the client asked for `Connection: close`.
 * So the answer goes out as the tail of the last header: uWebSockets still believes in an open response, and `close` stays ours. It ends
 * with the line break that uWebSockets puts after a header, which is white space in JSON and counted in the length.
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
  await tick(); // not inside the callback of the last chunk
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

/** Sends chunks as they come and as the client takes them. A source that fails closes the connection: the client sees a broken body. */
async function sendStream(raw: RawResponse, life: Life, reply: Reply, head: boolean): Promise<void> {
  if (head) {
    raw.cork(() => {
      raw.resume();
      writeHead(raw, reply, life);
      raw.endWithoutBody();
    });
    life.over = true;
    return;
  }
  let proceed: (() => void) | null = null;
  raw.onWritable(() => {
    proceed?.();
    return true;
  });
  life.onLost.add(() => proceed?.());
  raw.cork(() => {
    raw.resume(); // now, for uWebSockets does not wake a connection that was held while it had to wait for its client
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
    if (!life.over) {
      life.over = true;
      raw.close();
    }
    throw error;
  }
}

/** Ends without a body. A length that is passed as `undefined` would go out as 2^63. */
function endEmpty(raw: RawResponse, length: number | undefined): void {
  if (length === undefined) raw.endWithoutBody();
  else raw.endWithoutBody(length);
}

function writeHead(raw: RawResponse, reply: Reply, life: Life): void {
  const status = `${reply.status} ${STATUS_CODES[reply.status] ?? 'Status'}`;
  const headers = Object.entries(reply.headers ?? {});
  if (life.continued) {
    const [name, value] = headers.shift() ?? ['content-language', 'en']; // a status line was written: the next one is part of a header's name
    raw.writeHeader(`HTTP/1.1 ${status}\r\n${name}`, utf8(value));
  } else raw.writeStatus(status);
  for (const [name, value] of headers) raw.writeHeader(name, utf8(value));
}

/** Text goes out as bytes: on Node 24 uWebSockets sends a string without characters beyond Latin-1 in Latin-1. */
function utf8(text: string | Uint8Array): Uint8Array {
  return typeof text === 'string' ? Buffer.from(text) : text;
}

function bodiless(status: number): boolean {
  return status === 204 || status === 304;
}

/** What Content-Length would be; of a 304 and a stream it is not known. */
function length(reply: Reply): number | undefined {
  return reply.body === undefined ? undefined : Buffer.byteLength(reply.body);
}
