import { ReadableStream } from 'node:stream/web';
import { Agent, type RequestInfo, type RequestInit as UndiciInit, fetch as undiciFetch } from 'undici';
import { endless } from './reply.ts';

const LARGEST = 67_108_864; // limit on a response, bytes: several hundred per streamed token, reasoning included

/**
 * No timeouts: `fetch` by default gives up after five minutes without a byte, and a slow machine may take longer to process a long prompt.
 * Each call has its own connection (`pipelining: 0`), because an idle one may have been closed, and then a POST would fail. A silent
 * connection is probed every minute to detect a dead peer.
 */
const dispatcher = new Agent({ headersTimeout: 0, bodyTimeout: 0, connect: { timeout: 0 }, pipelining: 0 });

/**
 * As `fetch`, ended by its signal only. Redirects are not followed. Throws the underlying connection error, and an error if the response is
 * too large.
 */
export async function patientFetch(input: string | URL | Request, init: RequestInit = {}): Promise<Response> {
  const options = { ...init, redirect: 'manual', dispatcher } as UndiciInit;
  const answer = await undiciFetch(input as RequestInfo, options).catch((error) => {
    throw causeOf(error);
  });
  const body = answer.body && ReadableStream.from(bounded(answer.body));
  return new Response(body as BodyInit | null, { status: answer.status, headers: [...answer.headers] });
}

/** The chunks of a body; throws if it exceeds the limit. */
async function* bounded(body: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  let bytes = 0;
  try {
    for await (const piece of body) {
      bytes += piece.length;
      if (bytes > LARGEST) throw endless();
      yield piece;
    }
  } catch (error) {
    throw causeOf(error);
  }
}

/** `fetch` puts the reason of a failure into `cause`. */
function causeOf(error: unknown): unknown {
  if (!(error instanceof TypeError && error.cause instanceof Error)) return error;
  return error.cause.message === 'bad upgrade' ? new Error('the server requested another protocol than HTTP') : error.cause;
}
