import type { MemberActor } from '../contract/actor.ts';
import { check, type Request, readQuery } from './request.ts';
import type { Context, Route, Services } from './route.ts';

/** One request to one route, before its handler looks at it. */
export interface Asked {
  route: Route;
  request: Request;
  params: Context['params'];
  /** Null: the route asks for no key and no session. */
  actor: MemberActor | null;
  replyHeaders: Context['replyHeaders'];
  /** The JSON body, unchecked. */
  json(): Promise<unknown>;
}

/** What a handler gets; the query is read when it is first touched. */
export function makeContext(services: Services, { route, request, params, actor, replyHeaders, json }: Asked): Context {
  const {
    db,
    vault,
    spool,
    settings,
    limits,
    log,
    metrics,
    records,
    waits,
    totals,
    nodeId,
    uploadsInFlight,
    rateLimiter,
    badCredentials,
    signIns,
    registrations,
  } = services;
  let query: { value: unknown } | null = null;
  return {
    ...{
      db,
      vault,
      spool,
      settings,
      limits,
      log,
      metrics,
      records,
      waits,
      totals,
      nodeId,
      uploadsInFlight,
      rateLimiter,
      badCredentials,
      signIns,
      registrations,
    },
    ...{ request, params, json, replyHeaders },
    get caller() {
      if (!actor) throw new Error(`Cannot tell who calls ${route.method} ${route.path}: the route asks for no key`);
      return actor;
    },
    get query() {
      query ??= { value: route.query && readQuery(request.parameters, route.query) };
      return query.value;
    },
    body: async () => check(route.body!, await json()),
  };
}
