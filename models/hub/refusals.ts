/** The errors of a hub that gives no file, and how long it asks to wait. */

/** A repository of a hub. */
export interface Place {
  base: string;
  repository: string;
  /** Sent to the hub only, never to where it redirects. */
  token?: string;
}

/** Remedies by the codes of TLS or the words of a proxy; the first that matches counts. */
const REMEDIES: readonly [RegExp, string][] = [
  [/^Proxy response/, 'the proxy refuses; check its address, user name and password in HTTPS_PROXY, and to which hosts it connects'],
  [/EXPIRED|NOT_YET_VALID/, 'its certificate is not valid at this time; check the clock of this machine'],
  [/ALTNAME/, 'its certificate is for another host; check HF_ENDPOINT, and the proxy if there is one'],
  [
    /CERT|SIGNATURE/, // not trusted by this machine, as of a company's own hub or proxy
    'its certificate is not trusted here; set NODE_EXTRA_CA_CERTS in the environment to a file with the certificate of its authority',
  ],
];

/** The error for a hub, or where it redirects, that gives no answer. */
export function unreachable({ origin }: URL, cause: Error): Error {
  const { code, message } = firstCause(cause);
  const reason = typeof code === 'string' && !code.startsWith('UND_') ? code : message; // that of a timeout is a number
  const found = `Cannot reach ${origin} (${reason})`;
  const remedy =
    REMEDIES.find(([codes]) => codes.test(reason))?.[1] ??
    'is this machine online? If not, copy a checkpoint folder to it and use "longhand models import"';
  return new Error(`${found}: ${remedy}`, { cause });
}

type Coded = Error & { code?: unknown };

/** Where a proxy refuses, the errors in between say only that the request was cancelled. */
function firstCause(error: Coded): Coded {
  return error.cause ? firstCause(error.cause as Coded) : error;
}

/** Another attempt would fail as well. */
export class Refused extends Error {}

/** The hub is busy, or limits the rate of requests. */
export class Later extends Error {
  /** How long it asks to wait. 0: it does not say. */
  readonly waitMs: number;

  constructor(message: string, waitMs: number) {
    super(message);
    this.waitMs = waitMs;
  }
}

const LONGEST_WAIT_MS = 60_000;

/** Whether another attempt within a minute may succeed. */
export function isTemporary(error: unknown): boolean {
  return !(error instanceof Refused) && !(error instanceof Later && error.waitMs > LONGEST_WAIT_MS);
}

/** The error for an answer that is none. */
export function refusal(place: Place, name: string, { status, headers }: Pick<Response, 'status' | 'headers'>): Error {
  const message = `Cannot get ${name} of ${place.repository} from ${place.base}: it answered ${status}`;
  if (status === 401 || status === 403) return new Refused(`${message}; ${permission(place, status)}`);
  if (status !== 408 && status !== 429 && status < 500) return new Refused(message);
  const waitMs = waitOf(headers);
  return new Later(`${message}; try again ${waitMs ? `in ${Math.ceil(waitMs / 1000)} s` : 'later'}`, waitMs);
}

/** The time that an answer asks to wait, ms: in seconds or as a date, or as Hugging Face says when its limit ends, `"resolvers";r=0;t=42`. */
function waitOf(headers: Headers): number {
  const after = headers.get('retry-after') ?? /;\s*r=0;.*\bt=(\d+)/.exec(headers.get('ratelimit') ?? '')?.[1] ?? '';
  const ms = /^\d+$/.test(after) ? 1000 * Number(after) : Date.parse(after) - Date.now();
  return Math.max(0, ms || 0);
}

/** The remedy. Hugging Face answers 401 for repositories that do not exist and for invalid tokens too, 403 to those who have not accepted its terms. */
function permission({ base, repository, token }: Place, status: number): string {
  if (!token) return 'check the name; if the repository is private or gated, set HF_TOKEN';
  return status === 401
    ? 'check the name and HF_TOKEN'
    : `if the repository is gated, open ${base}/${repository} with the account of HF_TOKEN and accept the terms; otherwise check what the token may read`;
}
