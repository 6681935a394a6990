import { createReadStream } from 'node:fs';
import { request as httpRequest, type IncomingMessage } from 'node:http';
import { request as httpsRequest } from 'node:https';
import path from 'node:path';
import { text } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Status, Transcription } from '../../api/contract/transcription.ts';

export interface Client {
  /** Its address, the same however it was written. */
  readonly service: string;
  get<T>(place: string): Promise<T>;
  /** The upload under an external id that came at this time or later and is the one meant, if the service took it. */
  find(externalId: string, since: string, isMeant: (found: Listed) => boolean): Promise<{ uuid: string; status: string } | null>;
  /**
   * Sends the first `size` bytes of a file under an Idempotency-Key: however often it is tried, in this run or a later one within a day, it is transcribed once.
   */
  upload<T>(
    file: string,
    size: number,
    key: string,
    query: URLSearchParams,
    headers: Record<string, string>,
    onProgress: (fraction: number) => void,
  ): Promise<T>;
}

interface Answer {
  status: number;
  retryAfter: number | null;
  body: { code?: string | null; message?: string };
}

/** A transcription in a list. */
export interface Listed {
  id: string;
  /** The file name, until someone changes it. */
  title: string;
  created_at: string;
}

const SKEW_MS = 600_000; // between the clocks of this machine and the service
/** A list holds one status. `queued` is read again after `processing`, because a transcription whose engine died goes back. */
const IN_ORDER: readonly Status[] = ['queued', 'processing', 'queued', 'completed', 'failed', 'insufficient_balance'];
const ATTEMPTS = 10;
const CONFLICTS = 30; // an attempt interrupted by a killed server holds the key for a minute at most
const SILENT_MS = 600_000; // a proxy that buffers may pass on a whole recording before it responds
const FIRST_PAUSE_S = 1;
const LONGEST_PAUSE_S = 60;
const SILENT = 'SILENT'; // code of the error
const LOOK = 'Check --url, and the proxy in front of the service';
const AGAIN = new Set([408, 429, 500, 502, 503, 504]);
const NEVER = new Set(['upload_quota_exceeded', 'daily_reports_quota_exceeded', 'report_generation_limit']); // not retried: reset tomorrow

/** A client of a running service, with retries, also of requests without a byte for `silentMs`. `address` may end in /v1 or not. */
export function openClient(address: string, key: string, silentMs = SILENT_MS): Client {
  const base = new URL(`${address.replace(/\/+$/, '').replace(/\/v1$/, '')}/v1/`);
  const authorization = { Authorization: `Bearer ${key}` };
  const get = <T>(place: string) => patiently<T>(base, () => send(new URL(place, base), 'GET', authorization, silentMs));
  return {
    service: base.href,
    get,
    async find(externalId, since, isMeant) {
      const earliest = Date.parse(since) - SKEW_MS;
      for (const status of IN_ORDER) {
        const { items } = await get<{ items: Listed[] }>(
          `transcriptions?${new URLSearchParams({ external_id: externalId, status, limit: '100' })}`,
        );
        for (const item of items) {
          const { id, created_at } = item;
          if (Date.parse(created_at) < earliest || !isMeant(item)) continue;
          const brokenOff = status === 'failed' && (await get<Transcription>(`transcriptions/${id}`)).error_code === 'UPLOAD_INCOMPLETE';
          if (!brokenOff) return { uuid: id, status };
        }
      }
      return null;
    },
    async upload<T>(
      file: string,
      size: number,
      key: string,
      query: URLSearchParams,
      headers: Record<string, string>,
      onProgress: (fraction: number) => void,
    ) {
      const url = new URL(`transcriptions?${query}`, base);
      const all = {
        ...authorization,
        ...headers,
        'Content-Length': String(size),
        'Content-Disposition': `attachment; filename*=UTF-8''${encoded(path.basename(file))}`,
      };
      return patiently<T>(base, () => send(url, 'POST', { ...all, 'Idempotency-Key': key }, silentMs, { file, size, onProgress }));
    },
  };
}

/** Retries temporary failures: lost connections, overload, an upload with the same key still in progress. */
async function patiently<T>(base: URL, attempt: () => Promise<Answer>): Promise<T> {
  let [count, conflicts, pause] = [0, 0, FIRST_PAUSE_S];
  for (;;) {
    const answer = await attempt().catch((error: Error) => lost(error, base));
    if (!(answer instanceof Error) && answer.status < 300) return answer.body as T;
    if (!(answer instanceof Error) && answer.body.code === 'idempotency_conflict') conflicts++;
    else count++;
    const failure = answer instanceof Error ? answer : refusal(answer);
    const again = answer instanceof Error || mayTryAgain(answer);
    if (!again || count === ATTEMPTS || conflicts === CONFLICTS) throw failure;
    const wanted = answer instanceof Error ? null : answer.retryAfter;
    const seconds = wanted ?? pause * (0.5 + Math.random() / 2);
    process.stderr.write(`${failure.message}; retrying in ${Math.ceil(seconds)} s\n`);
    await sleep(seconds * 1000);
    pause = Math.min(pause * 2, LONGEST_PAUSE_S);
  }
}

function mayTryAgain({ status, body }: Answer): boolean {
  return (AGAIN.has(status) && !NEVER.has(body.code ?? '')) || body.code === 'idempotency_conflict';
}

/** Describes a refused or interrupted connection; rethrows other errors, such as an unreadable file. */
function lost(error: Error & { code?: string }, { origin }: URL): Error {
  const { code = '' } = error;
  if (code === 'ENOTFOUND') throw new Error(`unknown host ${origin}`, { cause: error });
  if (['ECONNREFUSED', 'ETIMEDOUT', 'EHOSTUNREACH', 'ENETUNREACH', 'EAI_AGAIN'].includes(code))
    return new Error(`nothing is listening at ${origin} (${code})`, { cause: error });
  if (code === SILENT) return new Error(`${origin} did not respond`, { cause: error });
  if (code === 'EPROTO' || code.startsWith('ERR_SSL'))
    throw new Error(`the server at ${origin} ${withoutTls(error)}. ${LOOK}`, { cause: error });
  if (['ECONNRESET', 'EPIPE'].includes(code)) return new Error(`the connection to ${origin} was interrupted`, { cause: error });
  throw error;
}

/** The reason why TLS cannot begin, as the rest of a sentence. A server that sends an alert does use TLS. */
function withoutTls({ message }: Error): string {
  const alert = /:([^:]*\balert\b[^:]*):/.exec(message)?.[1];
  return alert ? `refuses the TLS connection (${alert})` : 'does not use TLS: for plain HTTP the address begins with http://';
}

/** A permanent error of the service. */
export class Refusal extends Error {
  readonly status: number;
  readonly code: string;
  constructor(message: string, status: number, code: string) {
    super(message);
    this.name = 'Refusal';
    this.status = status;
    this.code = code;
  }
}

function refusal({ status, body }: Answer): Refusal {
  return new Refusal(`refused with ${status}${body.code ? ` ${body.code}` : ''}: ${body.message ?? 'no message'}`, status, body.code ?? '');
}

interface Body {
  file: string;
  size: number;
  onProgress: (fraction: number) => void;
}

/** Sends one request. A response that arrives before the body is sent counts as well. */
function send(url: URL, method: string, headers: Record<string, string>, silentMs: number, body?: Body): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const request = (url.protocol === 'https:' ? httpsRequest : httpRequest)(url, { method, headers });
    const source = body ? createReadStream(body.file, { end: Math.max(0, body.size - 1) }) : null; // it may have grown
    let answered = false;
    request.setTimeout(silentMs, () => request.destroy(Object.assign(new Error('silent'), { code: SILENT })));
    request.once('response', (response) => {
      answered = true;
      source?.unpipe(request);
      read(response)
        .then(resolve, reject)
        .finally(() => {
          source?.destroy();
          request.destroy();
        });
    });
    request.on('error', (error) => {
      source?.destroy();
      if (!answered) reject(error);
    });
    if (!source || !body) return request.end();
    let sent = 0;
    source.on('data', (chunk) => body.onProgress((sent += chunk.length) / body.size));
    source.once('error', (error) => {
      request.destroy();
      reject(error);
    });
    source.pipe(request);
  });
}

async function read(response: IncomingMessage): Promise<Answer> {
  const received = await text(response);
  const retryAfter = Number(response.headers['retry-after'] ?? Number.NaN);
  const body = parsed(received);
  const status = response.statusCode ?? 0;
  if (!body && status >= 200 && status < 300)
    throw new Error(`the server there is not Longhand: it responded with ${status} without JSON. ${LOOK}`);
  const elsewhere = status >= 300 && status < 400 && response.headers.location;
  if (elsewhere) throw new Error(`the server there redirects to ${elsewhere.slice(0, 200)}. ${LOOK}`);
  return { status, retryAfter: Number.isNaN(retryAfter) ? null : retryAfter, body: body ?? { message: received.slice(0, 200) } };
}

/** Null: not JSON. */
function parsed(received: string): Answer['body'] | null {
  try {
    return JSON.parse(received);
  } catch {
    return null;
  }
}

/** RFC 5987: percent-encodes every character except letters, digits and `-._~`. */
function encoded(name: string): string {
  return encodeURIComponent(name).replace(/[!'()*]/g, (mark) => `%${mark.charCodeAt(0).toString(16).toUpperCase()}`);
}
