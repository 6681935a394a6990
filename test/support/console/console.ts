import type { Response, TestApi } from '../api/client.ts';

/** A person signed in to the console. */
export interface Visitor {
  cookie: string;
  csrf: string;
  /** One request with the session's cookie and CSRF token. `path` is below `/v1/app`. */
  ask(method: string, path: string, body?: unknown, headers?: Record<string, string>): Promise<Response>;
}

/** Signs in with a key or a link. Throws if that is refused. */
export async function visit(api: TestApi, proof: { key: string } | { link: string }): Promise<Visitor> {
  const body = 'key' in proof ? { key: proof.key } : { link: proof.link };
  const answer = await api.call('', 'POST', '/v1/app/session', { body });
  if (answer.status !== 201) throw new Error(`Cannot sign in: ${answer.text}`);
  return visitor(api, cookieOf(answer)!, answer.json.csrf);
}

export function visitor(api: TestApi, cookie: string, csrf: string): Visitor {
  return {
    cookie,
    csrf,
    ask: (method, path, body, headers = {}) =>
      api.call('', method, `/v1/app${path}`, { body, headers: { cookie, ...(method !== 'GET' && { 'x-csrf-token': csrf }), ...headers } }),
  };
}

/** `name=value` of the cookie that a response sets. */
export function cookieOf({ headers }: Response, name = 'longhand_session'): string | undefined {
  const all = ([] as string[]).concat(headers['set-cookie'] ?? []);
  return all.find((cookie) => cookie.startsWith(`${name}=`))?.split(';')[0];
}
