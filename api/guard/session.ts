import { createHash, timingSafeEqual } from 'node:crypto';
import { findSession, type Session } from '../../db/access/sessions.ts';
import type { SessionActor } from '../contract/actor.ts';
import { ApiError, forbidden } from '../contract/errors.ts';
import { readCookie, setCookie } from '../http/cookies.ts';
import { originOf } from '../http/public-url.ts';
import type { Request } from '../http/request.ts';
import { type Context, NO_STORE, type Services } from '../http/route.ts';

export const COOKIE = 'longhand_session';
const SAFE = new Set(['GET', 'HEAD']);

/**
 * The signed-in person. Throws 401 without a session, 429 as for keys, and 403 if a request that may change something lacks the session's
 * CSRF token or comes from another origin.
 */
export async function signedIn(request: Request, services: Services, replyHeaders: Context['replyHeaders']): Promise<SessionActor> {
  const { actor, csrf } = await requireSession(request, services);
  const rate = await services.rateLimiter.take(`member:${actor.memberId}`);
  Object.assign(replyHeaders, rate.headers, NO_STORE);
  if (!rate.allowed) throw new ApiError('rate_limit_exceeded', { retryAfterSeconds: rate.retryAfterSeconds });
  if (!SAFE.has(request.method)) {
    refuseForeign(request, services);
    if (!same(request.headers.get('x-csrf-token') ?? '', csrf)) {
      throw forbidden('The X-CSRF-Token of this session is missing or wrong: reload the page');
    }
  }
  return actor;
}

/** The session of a request, from its cookie. Throws 401; 429 before any query if the client's address has sent too many invalid ones. */
export async function requireSession(request: Request, { db, badCredentials }: Pick<Services, 'db' | 'badCredentials'>): Promise<Session> {
  const token = sessionToken(request);
  if (token) badCredentials.check(request.address, token);
  const session = token ? await db.acrossTenants((tx) => findSession(tx, token)) : null;
  if (session) {
    badCredentials.spare(token!);
    return session;
  }
  if (token) badCredentials.count(request.address);
  throw new ApiError('unauthorized', { message: 'You are not signed in, or your session has expired: sign in again' });
}

/** Rejects cross-site requests. */
export function refuseForeign(request: Request, { settings }: Pick<Services, 'settings'>): void {
  const origin = request.headers.get('origin');
  const site = request.headers.get('sec-fetch-site');
  const foreign = origin && !`${originOf(request, settings)}/`.startsWith(`${origin}/`); // LONGHAND_PUBLIC_URL may have a path
  if (foreign || site === 'cross-site') throw forbidden('This request came from another site');
}

/** The session secret in the cookie. */
export function sessionToken(request: Request): string | null {
  const value = readCookie(request, COOKIE);
  return value !== null && /^[\w-]{43}$/.test(value) ? value : null;
}

/** The Set-Cookie header of a session; null deletes the cookie. */
export function sessionCookie(context: Context, token: string | null): string {
  const secure = originOf(context.request, context.settings).startsWith('https:');
  return setCookie(COOKIE, token ?? '', { path: '/', sameSite: 'strict', secure, ...(!token && { maxAge: 0 }) });
}

/** Constant-time comparison. */
function same(a: string, b: string): boolean {
  const digest = (text: string) => createHash('sha256').update(text).digest();
  return timingSafeEqual(digest(a), digest(b));
}
