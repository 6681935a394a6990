import type { z } from 'zod';
import type { SessionActor } from '../contract/actor.ts';
import { type Context, type Method, type Reply, type Route, route } from '../http/route.ts';

interface Spec<Q extends z.ZodType, B extends z.ZodType> {
  method: Method;
  /** Below `/v1/app`. */
  path: string;
  query?: Q;
  body?: B;
  handler(context: Context<z.output<Q>, z.output<B>>, actor: SessionActor): Promise<Reply>;
}

/** A route of the console: needs a signed-in person, is no part of the public description. What the person may do is asked by the verbs of db/. */
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

/** Made for programs that were written for another service, in its shapes. */
const FOR_PROGRAMS = /^\/v1\/(audio|models)(\/|$)/;

/** The public routes once more under `/v1/app`, for people who are signed in: same schemas, same handlers, same codes. */
export function forPeople(routes: readonly Route[]): Route[] {
  return routes
    .filter((route) => !route.hidden && route.access && route.path.startsWith('/v1/') && !FOR_PROGRAMS.test(route.path))
    .map((route) => ({ ...route, path: route.path.replace(/^\/v1\//, '/v1/app/'), session: true, hidden: true }));
}
