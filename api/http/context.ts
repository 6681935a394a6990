import type { MemberActor } from '../contract/actor.ts';
import { check, type Request, readQuery } from './request.ts';
import type { Context, Route, Services } from './route.ts';

/** One request to one route, as passed to its handler. */
export interface Asked {
  route: Route;
  request: Request;
  params: Context['params'];
  /** Null: the route requires neither a key nor a session. */
  actor: MemberActor | null;
  replyHeaders: Context['replyHeaders'];
  /** The unvalidated JSON body. */
  json(): Promise<unknown>;
}

/** Creates a handler's context; the query is parsed on first access. */
export function makeContext(services: Services, { route, request, params, actor, replyHeaders, json }: Asked): Context {
  let query: { value: unknown } | null = null;
  return {
    ...services,
    request,
    params,
    json,
    replyHeaders,
    get caller() {
      if (!actor) throw new Error(`Cannot identify the caller of ${route.method} ${route.path}: the route requires no key`);
      return actor;
    },
    get query() {
      query ??= { value: route.query && readQuery(request.parameters, route.query) };
      return query.value;
    },
    body: async () => check(route.body!, await json()),
  };
}
