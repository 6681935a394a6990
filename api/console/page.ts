import type { z } from 'zod';
import type { Session } from '../../db/access/sessions.ts';
import { forbidden } from '../contract/errors.ts';
import { type Context, type Method, type Reply, type Route, route } from '../http/route.ts';
import { signedIn } from './session.ts';

interface Spec<Q extends z.ZodType, B extends z.ZodType> {
  method: Method;
  /** Below `/v1/app`. */
  path: string;
  /** Only for owners of the workspace. */
  owner?: boolean;
  /** Also for people who signed in with a key that lacks some of their rights, although it changes something. */
  limited?: boolean;
  query?: Q;
  body?: B;
  handler(context: Context<z.output<Q>, z.output<B>>, session: Session): Promise<Reply>;
}

/** A route of the console: needs a signed-in person, is no part of the public description. */
export function page<Q extends z.ZodType = z.ZodUndefined, B extends z.ZodType = z.ZodUndefined>(spec: Spec<Q, B>): Route {
  return route({
    ...spec,
    path: `/v1/app${spec.path}`,
    summary: spec.path,
    tag: 'Console',
    access: null,
    hidden: true,
    answers: {},
    errors: [],
    async handler(context) {
      const session = await signedIn(context);
      if (spec.owner && session.caller.role !== 'owner') throw forbidden('Only owners of the workspace may do this');
      if (session.limited && spec.method !== 'GET' && !spec.limited) {
        throw forbidden('You signed in with an API key that lacks some of your rights: sign in with a link or a key with every scope');
      }
      return spec.handler(context as Context<z.output<Q>, z.output<B>>, session);
    },
  });
}
