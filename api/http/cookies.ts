import { parseCookie, type SetCookie, stringifySetCookie } from 'cookie';
import type { Request } from './request.ts';

/** The value of a cookie of a request, the first of several; null when it has none of this name. */
export function readCookie(request: Request, name: string): string | null {
  return parseCookie(request.headers.get('cookie') ?? '')[name] ?? null;
}

/** The value of a Set-Cookie header. No script of a page can read these cookies. */
export function setCookie(name: string, value: string, attributes: Pick<SetCookie, 'path' | 'sameSite' | 'secure' | 'maxAge'>): string {
  return stringifySetCookie({ name, value, httpOnly: true, ...attributes });
}
