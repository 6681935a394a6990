import type { z } from 'zod';
import type { SessionActor } from '../contract/actor.ts';
import { type Context, type Method, type Reply, type Route, route } from '../http/route.ts';

interface Spec<Q extends z.ZodType, B extends z.ZodType> {
  method: Method;
  /** Relative to `/v1/app`. */
  path: string;
  query?: Q;
  body?: B;
  handler(context: Context<z.output<Q>, z.output<B>>, actor: SessionActor): Promise<Reply>;
}

/**
 * Declares a route of the console: requires a signed-in person and is not part of the public description. Rights are checked by the verbs
 * of db/.
 */
export function page<Q extends z.ZodType = z.ZodUndefined, B extends z.ZodType = z.ZodUndefined>(spec: Spec<Q, B>): Route {
  return route({
    ...spec,
    path: `/v1/app${spec.path}`,
    summary: spec.path,
    tag: 'Console',
    access: null,
    session: true,
    hidden: true,
    answers: {},
    errors: [],
    handler: (context) => spec.handler(context as Context<z.output<Q>, z.output<B>>, context.caller as SessionActor),
  });
}

/** Endpoints compatible with another service's clients. */
const FOR_PROGRAMS = /^\/v1\/(audio|models)(\/|$)/;

/** The public routes again under `/v1/app`, for signed-in people: same schemas, handlers and codes. */
export function forPeople(routes: readonly Route[]): Route[] {
  return routes
    .filter((route) => !route.hidden && route.access && route.path.startsWith('/v1/') && !FOR_PROGRAMS.test(route.path))
    .map((route) => ({ ...route, path: route.path.replace(/^\/v1\//, '/v1/app/'), session: true, hidden: true }));
}
