import { findCredential } from '../../db/access/credentials.ts';
import type { Db } from '../../db/postgres/orm.ts';
import { type KeyActor, type MemberActor, requireScope, type TokenActor } from '../contract/actor.ts';
import { ApiError } from '../contract/errors.ts';
import type { Settings } from '../contract/settings.ts';
import { isForUs } from '../http/public-url.ts';
import type { Request } from '../http/request.ts';
import type { Access } from '../http/route.ts';
import type { Throttle } from './limiter.ts';
import { recentlyUsed } from './recent.ts';

/** A caller with a credential in the Authorization header. */
export type Caller = KeyActor | TokenActor;

/** Looks up callers. */
export interface Callers {
  /** The caller of a key or token; null if it is unknown, revoked or expired, or its member has left. */
  find(credential: string): Promise<Caller | null>;
}

const FRESH_MS = 1_000; // cache lifetime: a revoked key stops working within this time
const MOST = 50_000; // credentials cached

/** Looks up credentials in the database and caches results for a second, so that a busy key costs each host one query per second. */
export function openCallers(db: Db): Callers {
  const known = recentlyUsed<Promise<Caller | null>>(MOST, FRESH_MS);
  return {
    find(credential) {
      const fresh = known.get(credential);
      if (fresh) return fresh;
      const caller = findCredential(db, credential);
      known.set(credential, caller);
      caller.then(
        (found) => found ?? known.delete(credential),
        () => known.delete(credential),
      );
      return caller;
    },
  };
}

const KEYS_IN_QUERY = new Set(['api_key', 'apikey', 'key', 'token', 'access_token', 'authorization']);

/**
 * The caller of a request. Throws 401 without a valid key or with one in the query; 429 before any query if the client's address has sent
 * too many invalid ones.
 */
export async function identify(
  request: Request,
  callers: Callers,
  badCredentials: Throttle,
  settings: Settings,
  challenge = 'Bearer',
): Promise<Caller> {
  const credential = bearer(request);
  badCredentials.check(request.address, credential);
  const caller = credential ? await callers.find(credential) : null;
  if (caller && (caller.kind === 'key' || isForUs(caller.resource, request, settings))) {
    badCredentials.spare(credential!);
    return caller;
  }
  badCredentials.count(request.address);
  throw new ApiError('unauthorized', { headers: { 'www-authenticate': challenge } });
}

/** The credential in the Authorization header; null if it is missing or malformed, or if the query contains one. */
function bearer(request: Request): string | null {
  for (const [name, values] of request.parameters) {
    if (KEYS_IN_QUERY.has(name.toLowerCase()) || values.some((value) => /^lht?_/.test(value))) return null;
  }
  if (request.repeated.has('authorization')) return null;
  return /^bearer +([\x21-\x7e]{1,512}) *$/i.exec(request.headers.get('authorization') ?? '')?.[1] ?? null;
}

/** Checks in the published order: plan, OAuth token where a key is required, scope. Console users need no plan for the API. */
export function authorize(actor: MemberActor, access: Access): void {
  if (actor.kind !== 'session' && actor.plan !== 'api') throw new ApiError('api_access_required');
  if (actor.kind === 'token' && access.tokenError) throw new ApiError(access.tokenError);
  requireScope(actor, access.scope, access.scopeError);
}
