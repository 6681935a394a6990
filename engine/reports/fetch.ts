import { request as http, type IncomingMessage } from 'node:http';
import { request as https } from 'node:https';
import { Readable } from 'node:stream';
import { endless } from './reply.ts';

const PROBE_MS = 60_000; // a connection that hears nothing is probed, so that a dead peer is noticed
const LARGEST = 67_108_864; // bytes of an answer: some hundred for each token of a stream, thinking included

/**
 * As `fetch`, as far as a client of a language model needs it, but without limits of time of its own: Node's gives up after five minutes without a byte, and a
 * small machine reads a long prompt for longer. The signal is the only limit. Every call has its own connection, and closes it when aborted.
 */
export async function patientFetch(input: string | URL | Request, init: RequestInit = {}): Promise<Response> {
  const url = new URL(input instanceof Request ? input.url : input);
  const { method = 'GET', body = null, signal } = init;
  if (body !== null && typeof body !== 'string') throw new TypeError('Cannot send the request: only text is sent to a language model');
  const headers = Object.fromEntries(new Headers(init.headers));
  const answer = await new Promise<IncomingMessage>((resolve, reject) => {
    const request = (url.protocol === 'https:' ? https : http)(url, { method, headers, agent: false, signal: signal ?? undefined });
    request.setSocketKeepAlive(true, PROBE_MS);
    // without a listener the connection is closed, and neither an answer nor an error is ever told
    request.on('upgrade', (_, socket) => {
      socket.destroy();
      reject(new Error('the server wanted to speak another protocol than HTTP'));
    });
    request.on('response', resolve).on('error', reject).end(body);
  });
  const status = answer.statusCode ?? 0;
  const empty = status === 204 || status === 304;
  if (empty) answer.resume();
  return new Response(empty ? null : limited(answer), { status, headers: headersOf(answer) });
}

/** The body, which breaks off when it does not end. */
function limited(answer: IncomingMessage): ReadableStream<Uint8Array> {
  const body = Readable.toWeb(answer) as ReadableStream<Uint8Array>;
  let bytes = 0;
  answer.on('data', (piece: Buffer) => {
    bytes += piece.length;
    if (bytes > LARGEST) answer.destroy(endless());
  });
  return body;
}

function headersOf({ headersDistinct }: IncomingMessage): Headers {
  const headers = new Headers();
  for (const [name, values] of Object.entries(headersDistinct)) for (const value of values ?? []) headers.append(name, value);
  return headers;
}
