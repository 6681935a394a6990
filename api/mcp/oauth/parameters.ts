import { OWNER_SCOPES, SCOPES, type Scope } from '../../contract/workspace.ts';
import type { Reply } from '../../http/route.ts';

/** Scopes that an assistant may request: all but those for managing members, which require a key. */
export const GRANTABLE: readonly Scope[] = SCOPES.filter((scope) => !OWNER_SCOPES.has(scope));
/** Scopes that the tools need; the default. */
export const NEEDED: readonly Scope[] = ['read', 'reports:write'];

/** Readable by pages of every origin, because nothing in it depends on a session. */
export const OPEN_TO_ALL = { 'access-control-allow-origin': '*' } as const;

/** An error in the form of RFC 6749, 5.2. */
export class OAuthError extends Error {
  readonly error: string;
  readonly status: number;
  constructor(error: string, description: string, status = 400) {
    super(description);
    this.name = 'OAuthError';
    this.error = error;
    this.status = status;
  }
}

/** Runs an OAuth endpoint: errors become the JSON of RFC 6749. Responses must not be cached. */
export async function answered(work: () => Promise<Record<string, unknown>>, status = 200): Promise<Reply> {
  const headers = { 'content-type': 'application/json; charset=utf-8', 'cache-control': 'no-store', ...OPEN_TO_ALL };
  try {
    return { status, headers, body: JSON.stringify(await work()) };
  } catch (error) {
    if (!(error instanceof OAuthError)) throw error;
    return { status: error.status, headers, body: JSON.stringify({ error: error.error, error_description: error.message }) };
  }
}

/** Parses `read reports:write`; an empty list gives the default. Throws `invalid_scope`. */
export function readScopes(text: string | undefined): readonly Scope[] {
  if (!text?.trim()) return NEEDED;
  const wanted = [...new Set(text.trim().split(/\s+/))];
  const unknown = wanted.filter((scope) => !(GRANTABLE as readonly string[]).includes(scope));
  if (unknown.length)
    throw new OAuthError('invalid_scope', `Cannot grant ${unknown.join(', ').slice(0, 200)}; expected ${GRANTABLE.join(' ')}`);
  return wanted as Scope[];
}

/** The requested audience (RFC 8707), which must be ours; default `/mcp`. Throws `invalid_target`. */
export function readResource(asked: string | undefined, origin: string): string {
  const resource = asked ?? `${origin}/mcp`;
  if ([origin, `${origin}/`, `${origin}/mcp`, `${origin}/v1`].includes(resource)) return resource;
  throw new OAuthError('invalid_target', `Tokens are issued only for ${origin}/mcp, not for ${resource.slice(0, 200)}`);
}

const LOOPBACK = ['127.0.0.1', 'localhost', '[::1]'];

/** Whether a redirect URI is allowed: https, http on the local machine, or an application's private scheme (RFC 8252). */
export function isRedirectUri(text: string): boolean {
  if (text.length > 2_000 || /[\s#]/.test(text) || !URL.canParse(text)) return false;
  const url = new URL(text);
  if (url.protocol === 'https:') return true;
  if (url.protocol === 'http:') return LOOPBACK.includes(url.hostname);
  return (
    /^[a-z][a-z0-9+-]*(\.[a-z0-9+-]+)*:$/.test(url.protocol) &&
    !/^(javascript|data|file|vbscript|about|blob|ws|wss|ftp):$/.test(url.protocol)
  );
}

/** Whether a URI leads to a program on the person's own machine rather than to a site. */
export function isOwnMachine(uri: string): boolean {
  const { protocol, hostname } = new URL(uri);
  return protocol !== 'https:' && (protocol !== 'http:' || LOOPBACK.includes(hostname));
}

/** Whether `uri` is one of the client's; on the local machine the port may differ (RFC 8252, 7.3). */
export function isRegistered(uri: string, registered: readonly string[]): boolean {
  return registered.some((known) => {
    if (known === uri) return true;
    if (!isRedirectUri(uri)) return false;
    const [a, b] = [new URL(known), new URL(uri)];
    if (a.protocol !== 'http:' || !LOOPBACK.includes(a.hostname)) return false;
    b.port = a.port;
    return a.href === b.href;
  });
}
