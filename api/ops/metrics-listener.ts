import { createHash, timingSafeEqual } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { readFacts } from '../../db/ops/facts.ts';
import { parseEndpoint } from '../contract/addresses.ts';
import { ApiError, notFound } from '../contract/errors.ts';
import type { Settings } from '../contract/settings.ts';
import { type Route, route, type Services } from '../http/route.ts';

type Shown = Pick<Services, 'db' | 'metrics' | 'nodeId'>;
type Wanted = Pick<Settings, 'LONGHAND_METRICS' | 'LONGHAND_METRICS_TOKEN' | 'given'>;

const NOT_STORED = { 'cache-control': 'no-store' };
const read = ({ db, metrics, nodeId }: Shown) => metrics.text(() => readFacts(db, nodeId));

/** On the main port only with `LONGHAND_METRICS=public`, and then only with the token, because it names hosts and models. */
export const metricsRoute: Route = route({
  ...{ tag: 'Operations', access: null, hidden: true, errors: [], answers: {} },
  method: 'GET',
  path: '/metrics',
  summary: 'Numbers for Prometheus',
  async handler(context) {
    const { settings, request, badCredentials, metrics } = context;
    if (settings.LONGHAND_METRICS !== 'public') throw notFound();
    const given = request.headers.get('authorization');
    badCredentials.check(request.address, given);
    if (!admits(settings, given)) {
      badCredentials.count(request.address);
      throw new ApiError('unauthorized', {
        message: 'Send the token of LONGHAND_METRICS_TOKEN as Authorization: Bearer TOKEN',
        headers: { 'www-authenticate': 'Bearer' },
      });
    }
    return { status: 200, headers: { 'content-type': metrics.type, ...NOT_STORED }, body: await read(context) };
  },
});

/** Null: metrics are served on the main port, or nowhere. */
export interface MetricsListener {
  /** Including the path. */
  url: string;
  close(): void;
}

/**
 * Serves `/metrics` on an address of its own, which no proxy forwards. Returns null if the default address is in use, by another Longhand
 * on this machine; a configured one must be free.
 */
export async function listenForMetrics(shown: Shown, settings: Wanted): Promise<MetricsListener | null> {
  const place = parseEndpoint(settings.LONGHAND_METRICS);
  if (!place) return null;
  const server = createServer((request, response) => void answer(shown, settings, request, response));
  server.listen(place);
  try {
    await once(server, 'listening');
  } catch (cause) {
    const { code } = cause as NodeJS.ErrnoException;
    if (code === 'EADDRINUSE' && !settings.given.includes('LONGHAND_METRICS')) return null;
    throw new Error(
      `Cannot serve /metrics at ${settings.LONGHAND_METRICS} (${code}): choose another address with LONGHAND_METRICS, or off`,
      {
        cause,
      },
    );
  }
  server.unref();
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://${place.host.includes(':') ? `[${place.host}]` : place.host}:${port}/metrics`,
    close: () => {
      server.close();
      server.closeAllConnections();
    },
  };
}

async function answer(shown: Shown, settings: Wanted, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const end = (status: number, text: string, headers: Record<string, string> = {}) =>
    response.writeHead(status, { 'content-type': 'text/plain; charset=utf-8', ...NOT_STORED, ...headers }).end(text);
  if (request.url?.split('?')[0] !== '/metrics') return void end(404, 'Only /metrics is here\n');
  if (request.method !== 'GET' && request.method !== 'HEAD') return void end(405, 'Only GET is known here\n', { allow: 'GET' });
  if (!admits(settings, request.headers.authorization))
    return void end(401, 'Send the token of LONGHAND_METRICS_TOKEN\n', { 'www-authenticate': 'Bearer' });
  try {
    end(200, await read(shown), { 'content-type': shown.metrics.type });
  } catch (error) {
    end(500, `The numbers could not be read: ${(error as Error).message}\n`);
  }
}

/** Whether an Authorization header has the token, if one is configured. */
function admits({ LONGHAND_METRICS_TOKEN: token }: Wanted, header: string | null | undefined): boolean {
  if (!token) return true;
  const digest = (text: string) => createHash('sha256').update(text).digest();
  return timingSafeEqual(digest(`Bearer ${token}`), digest(header ?? ''));
}
