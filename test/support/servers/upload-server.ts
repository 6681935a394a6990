import { once } from 'node:events';
import { createServer, type IncomingMessage, type RequestListener, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import type { Test } from 'tap';

/** A request that `uploadService` got. */
export interface Seen {
  name: string | undefined;
  key: string | undefined;
  bytes: number;
  url: string | undefined;
  metadata: string | undefined;
}

/** The answer to one request. */
export type Turn = (request: IncomingMessage, response: ServerResponse) => unknown;

/** An HTTP server on a free port, closed at teardown. Returns its URL. */
export async function serverOf(t: Test, answer: RequestListener): Promise<string> {
  const server = createServer(answer);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.teardown(() => server.closeAllConnections());
  t.teardown(() => server.close());
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

/** A service that handles requests with `turns` in order, and accepts further ones; it records the requests. */
export async function uploadService(t: Test, turns: Turn[]): Promise<{ seen: Seen[]; url: string }> {
  const seen: Seen[] = [];
  const url = await serverOf(t, async (request, response) => {
    const turn = turns.shift();
    const { 'content-disposition': name, 'idempotency-key': key, 'x-metadata': metadata } = request.headers as Record<string, string>;
    const entry = { name, key, bytes: 0, url: request.url, metadata };
    seen.push(entry);
    if (turn) return turn(request, response);
    entry.bytes = (await buffer(request)).length;
    response.writeHead(201).end(JSON.stringify({ uuid: `id-${seen.length}`, status: 'queued', reports: [] }));
  });
  return { seen, url };
}

/** Responds early like the service, and keeps reading the body: closing immediately could reset the connection and lose the response. */
export const refuse =
  (status: number, headers: Record<string, string>, body: object): Turn =>
  (request, response) => {
    const text = JSON.stringify(body);
    response.writeHead(status, { ...headers, connection: 'close', 'content-length': Buffer.byteLength(text) }).write(text);
    request.once('end', () => response.end()).resume();
  };
