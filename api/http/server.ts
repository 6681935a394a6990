import { randomUUID } from 'node:crypto';
import { Unwanted } from '../../db/postgres/wanted.ts';
import { countedId, type MemberActor } from '../contract/actor.ts';
import { ApiError } from '../contract/errors.ts';
import { authorize, type Callers, identify } from '../guard/caller.ts';
import { signedIn } from '../guard/session.ts';
import { attachBody, type Body } from './body.ts';
import { clientAddress, trusted } from './client-address.ts';
import { makeContext } from './context.ts';
import { refusal } from './error-response.ts';
import { requirePort } from './port.ts';
import type { RawResponse } from './raw-response.ts';
import { parseQuery, type Request, readJson } from './request.ts';
import { type Life, send, sendContinue } from './response.ts';
import { NO_STORE, type Reply, type Route, type Services } from './route.ts';
import { routeTable } from './router.ts';

export interface ServeOptions extends Services {
  routes: readonly Route[];
  callers: Callers;
  host: string;
  /** 0 picks a free port. */
  port: number;
}

export interface Served {
  port: number;
  /** Stops accepting connections, lets requests finish for up to this long, then closes the remaining ones. */
  stop(graceSeconds: number): Promise<void>;
}

const HEADER_BYTES = 32_768; // uWebSockets reads this when it is loaded, so set it first; the default of 4 KB is smaller than X-Metadata may be

/** Serves the routes. `answer` handles every request, including all errors. */
export async function serve(options: ServeOptions): Promise<Served> {
  process.env.UWS_HTTP_MAX_HEADERS_SIZE ??= String(HEADER_BYTES);
  const { default: HyperExpress } = await import('hyper-express');
  const server = new HyperExpress.Server({ max_body_length: Number.POSITIVE_INFINITY, auto_close: false });
  const match = routeTable(options.routes);
  const proxies = trusted(options.settings.LONGHAND_TRUST_PROXY);
  const open = new Set<Promise<void>>();
  const lives = new Map<Life, RawResponse>();
  let stopping = false;

  // Bodies and responses use the raw response: hyper-express would delay an early response until the whole body has arrived.
  server.any('/*', (request, response) => {
    const raw = response.raw as unknown as RawResponse;
    const life: Life = { over: false, onLost: new Set(), continued: false, answering: false };
    const { headers, repeated } = readHeaders(request.raw);
    const body = headers.has('content-length') || headers.has('transfer-encoding') ? attachBody(raw) : null;
    if (!body)
      raw.pause(); // until the response is sent: see response.ts
    else if (/^100-continue$/i.test(headers.get('expect') ?? '') && headers.get('expect') !== '100-continue') sendContinue(raw, life);
    raw.onAborted(() => {
      life.over = true;
      body?.abort();
      for (const lost of life.onLost) lost();
    });
    let leaving: AbortSignal | undefined;
    const plain: Request = {
      id: randomUUID(),
      method: request.method,
      path: request.path,
      parameters: parseQuery(request.path_query),
      headers,
      repeated,
      address: clientAddress(Buffer.from(raw.getRemoteAddressAsText()).toString(), headers.get('x-forwarded-for'), proxies),
      body,
      gone: () => life.over,
      get signal() {
        leaving ??= watch(raw, life);
        return leaving;
      },
      startedAt: performance.now(),
    };
    lives.set(life, raw);
    options.metrics.requests.inc();
    const work = respond(plain, raw, life, body).finally(() => {
      body?.close();
      lives.delete(life);
      options.metrics.requests.dec();
      open.delete(work);
    });
    open.add(work);
  });

  async function respond(request: Request, raw: RawResponse, life: Life, body: Body | null): Promise<void> {
    let where = 'unknown';
    const reply = await answer(request, (route) => {
      where = route.path;
    });
    options.metrics.answered(request.method, where, reply.status);
    const fields = { request: request.id, method: request.method, route: where, status: reply.status, ms: ms(request) };
    options.log[reply.status < 400 && request.method === 'GET' ? 'debug' : 'info'](
      fields,
      life.over ? 'the client has disconnected' : 'answered',
    );
    const closing = stopping ? { ...reply, headers: { ...reply.headers, connection: 'close' } } : reply;
    await send(raw, life, closing, body, request.method === 'HEAD').catch((error: unknown) => {
      options.log.error({ ...fields, error }, 'cannot send the response');
      if (!life.over) {
        life.over = true;
        raw.close();
      }
    });
  }

  /** The response to a request; never throws. */
  async function answer(request: Request, found: (route: Route) => void): Promise<Reply> {
    const headers: Record<string, string> = { 'x-request-id': request.id };
    let refusals: Route['refusals'];
    try {
      if (stopping)
        throw new ApiError('service_unavailable', {
          message: 'This server is shutting down; send the request again',
          retryAfterSeconds: 1,
        });
      const { route, params } = match(request.method, request.path);
      found(route);
      refusals = route.refusals;
      const actor = await admit(request, route, headers);
      const json = () => readJson(request.body, options.limits.JSON_BODY_BYTES);
      const reply = await route.handler(makeContext(options, { route, request, params, actor, replyHeaders: headers, json }));
      return { ...reply, headers: { ...headers, ...reply.headers } };
    } catch (error) {
      const reply = refusal(error, request, options.log, refusals);
      return { ...reply, headers: { ...headers, ...reply.headers } };
    }
  }

  /** The caller, if the route requires one: a signed-in person, or the actor of a key or token. */
  async function admit(request: Request, route: Route, headers: Record<string, string>): Promise<MemberActor | null> {
    if (!route.session) return route.access && admitCredential(request, route, headers);
    const person = await signedIn(request, options, headers);
    if (route.access) authorize(person, route.access);
    return person;
  }

  /**
   * Checks 401, then 403 plan, token and scope, then 429, as published (docs/decisions/api-contract.md). All but 401 have rate limit
   * headers.
   */
  async function admitCredential(request: Request, route: Route, headers: Record<string, string>): Promise<MemberActor> {
    const actor = await identify(
      request,
      options.callers,
      options.badCredentials,
      options.settings,
      route.challenge?.(request, options.settings),
    );
    const rate = await options.rateLimiter.take(`${actor.kind}:${countedId(actor)}`);
    Object.assign(headers, rate.headers, NO_STORE);
    authorize(actor, route.access!);
    if (!rate.allowed) throw new ApiError('rate_limit_exceeded', { retryAfterSeconds: rate.retryAfterSeconds });
    return actor;
  }

  await requirePort(options.host, options.port);
  await server.listen(options.port, options.host).catch((cause: unknown) => {
    throw new Error(`Cannot listen on ${options.host} port ${options.port}: ${cause}`, { cause });
  });
  return {
    port: server.port,
    async stop(graceSeconds) {
      stopping = true;
      server.close();
      const patience = new Promise<void>((resolve) => setTimeout(resolve, graceSeconds * 1000).unref());
      await Promise.race([Promise.all(open), patience]);
      for (const [life, raw] of lives) {
        if (!life.over) raw.close();
      }
      await Promise.all(open);
    },
  };
}

const UNNOTICED_MS = 1_000;
const FLIP_MS = 3_000;

/** Aborts if the connection is lost before the response is complete. */
function watch(raw: RawResponse, life: Life): AbortSignal {
  const leaving = new AbortController();
  const lost = () => leaving.abort(new Unwanted());
  if (life.over) lost();
  else life.onLost.add(lost);
  setTimeout(() => life.over || life.answering || raw.resume(), UNNOTICED_MS).unref();
  const flip = setInterval(() => {
    if (life.over || life.answering) return clearInterval(flip);
    raw.pause();
    raw.resume(); // also restarts the 10 s after which uWebSockets closes silent connections
  }, FLIP_MS).unref();
  return leaving.signal;
}

/** Headers by name; the values of a repeated header are joined. */
function readHeaders(raw: { forEach(each: (name: string, value: string) => void): void }) {
  const headers = new Map<string, string>();
  const repeated = new Set<string>();
  raw.forEach((name, value) => {
    const before = headers.get(name);
    if (before === undefined) headers.set(name, value);
    else {
      repeated.add(name);
      headers.set(name, `${before}, ${value}`);
    }
  });
  return { headers, repeated };
}

function ms(request: Request): number {
  return Math.round(performance.now() - request.startedAt);
}
