import type { Route } from './route.ts';

/** Every route, one line each. */
export const ROUTES: readonly Route[] = [];
