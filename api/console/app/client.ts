import type { Scope } from '../../contract/workspace.ts';

/** An error response of the API, with its message. */
export class Refused extends Error {
  readonly status: number;
  readonly code: string | null;
  readonly detail: Record<string, unknown> | null;
  constructor(
    status: number,
    body: {
      code?: string | null;
      message?: string;
      detail?: { errors?: { field: string; message: string }[]; [field: string]: unknown } | null;
    },
  ) {
    const faults = body.detail?.errors?.map(({ field, message }) => `${field} ${message}`);
    super(faults?.length ? faults.join('; ') : (body.message ?? `The service returned ${status}`));
    this.status = status;
    this.code = body.code ?? null;
    this.detail = body.detail ?? null;
  }
}

export interface Session {
  member: { id: string; email: string; name: string | null; role: 'owner' | 'user' };
  workspace: { id: string; name: string };
  /** Rights of this session. */
  scopes: Scope[];
  csrf: string;
  operator: boolean;
}

let csrf = '';
let user = ''; // the member whose session it is
let over = false; // the session has ended, and the person is asked to sign in again

/** Makes a session that of the next requests. If one had ended, repeats what `renewed` holds. */
export function remember(session: Session | null): void {
  const again = over && session !== null;
  csrf = session?.csrf ?? '';
  user = session?.member.id ?? '';
  over = false;
  if (again) for (const repeat of [...renewed]) repeat();
}

/** Called when the session has ended. */
export const ended: { notify: () => void } = { notify: () => {} };

/** Called when the person has signed in again. */
export const renewed = new Set<() => void>();

/** Whether this member is the one who is signed in, with a session that is not known to have ended. */
export const isSignedIn = (member: string) => member !== '' && member === user && !over;

/** Notes that the service does not know the session of a request with this CSRF token, unless another has replaced it since. */
export function expire(used: string | undefined): void {
  if (!used || used !== csrf) return;
  over = true;
  ended.notify();
}

const OF_SIGNING_IN = ['/session', '/session/choices', '/options'];

export function headers(): Record<string, string> {
  return csrf ? { 'X-CSRF-Token': csrf } : {};
}

/**
 * Sends one request. Throws Refused, or an error with a message if there is no response. While a new sign-in is awaited nothing else is sent:
 * the service would count requests of an ended session, which pages repeat, as attempts to guess one.
 */
async function ask(path: string, init: RequestInit): Promise<Response> {
  if (over && !OF_SIGNING_IN.includes(path)) throw new Refused(401, { message: 'Your session has ended: sign in again' });
  const used = csrf;
  const answer = await fetch(`/v1/app${path}`, init).catch(() => {
    throw new Error('The service cannot be reached: check the connection and try again');
  });
  if (answer.ok || answer.status === 304) return answer;
  if (answer.status === 401) expire(used);
  throw new Refused(answer.status, await answer.json().catch(() => ({})));
}

/** Calls the console's API. */
export async function call<T>(method: string, path: string, body?: unknown): Promise<T> {
  const answer = await ask(path, {
    method,
    headers: { ...headers(), ...(body === undefined ? {} : { 'Content-Type': 'application/json' }) },
    body: body === undefined ? undefined : JSON.stringify(body),
  });
  const text = await answer.text();
  return (text ? JSON.parse(text) : undefined) as T;
}

/** Saves the answer to a request as a file, named as the service says. */
export async function save(path: string, body: unknown): Promise<void> {
  const answer = await ask(path, {
    ...{ method: 'POST', headers: { ...headers(), 'Content-Type': 'application/json' }, body: JSON.stringify(body) },
  });
  const url = URL.createObjectURL(await answer.blob());
  const link = document.createElement('a');
  link.href = url;
  link.download = /filename="([^"]+)"/.exec(answer.headers.get('content-disposition') ?? '')?.[1] ?? 'transcriptions.zip';
  link.click();
  setTimeout(() => URL.revokeObjectURL(url), 60_000);
}

/** A conditional GET: returns the previous value while the service responds with 304. */
export function poller<T>(path: string): () => Promise<{ value: T; changed: boolean }> {
  let tag = '';
  let last: T;
  return async () => {
    const answer = await ask(path, { headers: { ...headers(), ...(tag ? { 'If-None-Match': tag } : {}) }, cache: 'no-store' });
    if (answer.status === 304) return { value: last, changed: false };
    tag = answer.headers.get('etag') ?? '';
    last = (await answer.json()) as T;
    return { value: last, changed: true };
  };
}
