import { createHash, timingSafeEqual } from 'node:crypto';
import { findSession, type Session } from '../../db/access/sessions.ts';
import { ApiError, forbidden } from '../contract/errors.ts';
import { originOf } from '../http/public-url.ts';
import type { Request } from '../http/request.ts';
import { type Context, NO_STORE } from '../http/route.ts';

const COOKIE = 'longhand_session';
const SAFE = new Set(['GET', 'HEAD']);

/**
 * The person who is signed in. Throws 401 without a session, 429 as for keys, 403 when a request that may change something does not carry
 * the session's CSRF token or comes from another origin.
 */
export async function signedIn(context: Context): Promise<Session> {
  const token = sessionToken(context.request);
  const session = token ? await openedBy(token, context) : null;
  if (!session) throw new ApiError('unauthorized', { message: 'You are not signed in, or your session is over: sign in again' });
  const rate = await context.rates.take(`member:${session.caller.memberId}`);
  Object.assign(context.replyHeaders, rate.headers, NO_STORE);
  if (!rate.allowed) throw new ApiError('rate_limit_exceeded', { retryAfterSeconds: rate.retryAfterSeconds });
  if (!SAFE.has(context.request.method)) {
    refuseForeign(context);
    if (!same(context.request.headers.get('x-csrf-token') ?? '', session.csrf)) {
      throw forbidden('The request does not carry the X-CSRF-Token of this session: load the page again');
    }
  }
  return session;
}

/** The session behind a cookie. Throws 429 before any query when the address has sent too many bad ones. */
async function openedBy(token: string, { db, floods, request }: Context): Promise<Session | null> {
  floods.check(request.address, token);
  const session = await db.system((tx) => findSession(tx, token));
  if (session) floods.spare(token);
  else floods.count(request.address);
  return session;
}

/** Refuses requests that another site's page makes the browser send. */
export function refuseForeign({ request, settings }: Context): void {
  const origin = request.headers.get('origin');
  const site = request.headers.get('sec-fetch-site');
  if ((origin && origin !== originOf(request, settings)) || site === 'cross-site') throw forbidden('This request came from another site');
}

/** The session's secret in the cookie. */
export function sessionToken(request: Request): string | null {
  const cookies = request.headers.get('cookie') ?? '';
  return new RegExp(`(?:^|;\\s*)${COOKIE}=([\\w-]{43})(?:;|$)`).exec(cookies)?.[1] ?? null;
}

/** Set-Cookie for a session; null ends it. */
export function sessionCookie(context: Context, token: string | null): string {
  const secure = originOf(context.request, context.settings).startsWith('https:') ? '; Secure' : '';
  return `${COOKIE}=${token ?? ''}; Path=/; HttpOnly; SameSite=Strict${secure}${token ? '' : '; Max-Age=0'}`;
}

/** In time that says nothing about where they differ. */
function same(a: string, b: string): boolean {
  const digest = (text: string) => createHash('sha256').update(text).digest();
  return timingSafeEqual(digest(a), digest(b));
}
