/** A refusal of the service, in its own words. */
export class Refused extends Error {
  readonly status: number;
  readonly code: string | null;
  constructor(status: number, body: { code?: string | null; message?: string }) {
    super(body.message ?? `The service answered ${status}`);
    this.status = status;
    this.code = body.code ?? null;
  }
}

export interface Session {
  member: { id: string; email: string; name: string | null; role: 'owner' | 'user' };
  workspace: { id: string; name: string };
  csrf: string;
  operator: boolean;
}

let csrf = '';

export function remember(session: Session | null): void {
  csrf = session?.csrf ?? '';
}

/** Called when the session is over. */
export const ended: { notify: () => void } = { notify: () => {} };

export function headers(): Record<string, string> {
  return csrf ? { 'X-CSRF-Token': csrf } : {};
}

/** Asks the console's API. Throws Refused. */
export async function call<T>(method: string, path: string, body?: unknown): Promise<T> {
  const answer = await fetch(`/v1/app${path}`, {
    method,
    headers: { ...headers(), ...(body === undefined ? {} : { 'Content-Type': 'application/json' }) },
    body: body === undefined ? undefined : JSON.stringify(body),
  });
  if (answer.ok) return (answer.status === 204 || answer.status === 202 ? undefined : await answer.json()) as T;
  const told = await answer.json().catch(() => ({}));
  if (answer.status === 401 && csrf) ended.notify();
  throw new Refused(answer.status, told);
}

/** GET that costs nothing while nothing changed: the last answer again when the service says 304. */
export function poller<T>(path: string): () => Promise<{ value: T; changed: boolean }> {
  let tag = '';
  let last: T;
  return async () => {
    const answer = await fetch(`/v1/app${path}`, {
      headers: { ...headers(), ...(tag ? { 'If-None-Match': tag } : {}) },
      cache: 'no-store',
    });
    if (answer.status === 304) return { value: last, changed: false };
    if (!answer.ok) {
      if (answer.status === 401) ended.notify();
      throw new Refused(answer.status, await answer.json().catch(() => ({})));
    }
    tag = answer.headers.get('etag') ?? '';
    last = (await answer.json()) as T;
    return { value: last, changed: true };
  };
}
