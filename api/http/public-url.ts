import type { Settings } from '../contract/settings.ts';
import type { Request } from './request.ts';

/**
 * Public origin of this service, as `https://host`: LONGHAND_PUBLIC_URL, else derived from the request (its scheme from a trusted proxy).
 */
export function originOf(request: Pick<Request, 'headers'>, settings: Settings): string {
  if (settings.LONGHAND_PUBLIC_URL) return settings.LONGHAND_PUBLIC_URL.replace(/\/+$/, '');
  const forwarded = settings.LONGHAND_TRUST_PROXY ? request.headers.get('x-forwarded-proto') : undefined;
  const host = request.headers.get('host') ?? '';
  return `${forwarded === 'https' ? 'https' : 'http'}://${/^[\w.:[\]-]+$/.test(host) ? host : 'localhost'}`;
}

/**
 * Whether a token issued for `resource` is valid here (RFC 8707). A token without a resource was created by the operator for this
 * installation.
 */
export function isForUs(resource: string | null, request: Pick<Request, 'headers'>, settings: Settings): boolean {
  const origin = originOf(request, settings);
  return resource === null || [origin, `${origin}/`, `${origin}/mcp`, `${origin}/v1`].includes(resource);
}
