import { ReadableStream } from 'node:stream/web';
import { Agent, type RequestInfo, type RequestInit as UndiciInit, fetch as undiciFetch } from 'undici';
import { endless } from './reply.ts';

const LARGEST = 67_108_864; // limit on a response, bytes: several hundred per streamed token, reasoning included

/**
 * Without limits of time: `fetch` gives up after five minutes without a byte, and a small machine reads a long prompt for longer. Each call has its own connection
 * (`pipelining: 0`): one that lay idle may be gone, and a POST that met that would fail. A silent connection is probed each minute, so a dead peer is noticed.
 */
const dispatcher = new Agent({ headersTimeout: 0, bodyTimeout: 0, connect: { timeout: 0 }, pipelining: 0 });

/** As `fetch`, limited by its signal only. Redirects are not followed. Throws what went wrong with the connection itself, and when an answer does not end. */
export async function patientFetch(input: string | URL | Request, init: RequestInit = {}): Promise<Response> {
  const options = { ...init, redirect: 'manual', dispatcher } as UndiciInit;
  const answer = await undiciFetch(input as RequestInfo, options).catch((error) => {
    throw causeOf(error);
  });
  const body = answer.body && ReadableStream.from(bounded(answer.body));
  return new Response(body as BodyInit | null, { status: answer.status, headers: [...answer.headers] });
}

/** The pieces of a body, which breaks off when it does not end. */
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

/** `fetch` says no more than that it failed, and why in the cause. */
function causeOf(error: unknown): unknown {
  if (!(error instanceof TypeError && error.cause instanceof Error)) return error;
  return error.cause.message === 'bad upgrade' ? new Error('the server requested another protocol than HTTP') : error.cause;
}
