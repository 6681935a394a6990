import { authorize } from '../guard/caller.ts';
import type { Context, Route } from '../http/route.ts';
import { signedIn } from './session.ts';

/** The public routes once more under `/v1/app`, for people who are signed in: same schemas, same handlers, same codes. */
export function twins(routes: readonly Route[]): Route[] {
  return routes
    .filter((route) => !route.hidden && route.access && route.path.startsWith('/v1/'))
    .map((route) => ({
      ...route,
      path: route.path.replace(/^\/v1\//, '/v1/app/'),
      access: null,
      hidden: true,
      async handler(context: Context) {
        const { caller } = await signedIn(context);
        authorize(caller, route.access!);
        return route.handler(Object.create(context, { caller: { value: caller } }));
      },
    }));
}
