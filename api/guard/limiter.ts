import { type Bucket, takeTokens } from '../../db/access/rate-limits.ts';
import type { Db } from '../../db/postgres/orm.ts';
import { ApiError } from '../contract/errors.ts';
import { LIMITS } from '../contract/limits.ts';
import type { Settings } from '../contract/settings.ts';
import { networkOf } from './network.ts';
import { recentlyUsed } from './recent.ts';

/** The state of a caller's rate limit. */
export interface Allowance {
  allowed: boolean;
  /** RateLimit-* response headers. */
  headers: Readonly<Record<string, string>>;
  /** Whole seconds until a request is allowed again, at least 1. */
  retryAfterSeconds: number;
}

/** Rate limits per key or token, shared by all API hosts. */
export interface RateLimiter {
  /** Counts a request. */
  take(subject: string): Promise<Allowance>;
}

const BATCH = 10; // tokens that a host reserves at most at once
const HOT = 50; // requests per second of a subject above which a host reserves tokens in advance
const KEPT_MS = 1_000; // after this, a host returns unused tokens with its next query
const MOST = 50_000; // subjects tracked

interface Share {
  /** Reserved from the bucket, not yet used. */
  tokens: number;
  /** Requests waiting for a token. */
  waiting: number;
  /** Requests in the second that began at `since`, and in the previous one. */
  asked: number;
  before: number;
  since: number;
  /** Tokens in the bucket after the last query, at `at`. */
  left: number;
  at: number;
  fetching: Promise<void> | null;
}

function newShare(): Share {
  return { tokens: 0, waiting: 0, asked: 0, before: 0, since: performance.now(), left: 0, at: Number.NEGATIVE_INFINITY, fetching: null };
}

/** Counts a request in the current second. */
function note(share: Share): void {
  const now = performance.now();
  if (now - share.since >= 1000) {
    share.before = now - share.since < 2000 ? share.asked : 0;
    share.asked = 0;
    share.since = now;
  }
  share.asked++;
}

/**
 * Hosts take tokens one by one, or as many as are waited for, so that none is unused on one host while another refuses requests. Only for a
 * subject with very many requests on one host are some reserved in advance. `600/min` allows 600 per minute in bursts of 100; bursts of
 * other rates are proportional; `0` disables the limit and its headers.
 */
export function openRateLimiter(db: Db, rate: Settings['LONGHAND_RATE_LIMIT']): RateLimiter {
  const perMinute = Number.parseInt(rate, 10);
  if (perMinute === 0) return { take: async () => ({ allowed: true, headers: {}, retryAfterSeconds: 1 }) };
  const bucket: Bucket = {
    burst: Math.max(1, Math.floor((perMinute * LIMITS.REQUEST_BURST) / LIMITS.REQUESTS_PER_MIN)),
    perSecond: perMinute / 60,
  };
  const shares = recentlyUsed<Share>(MOST);
  const regained = (share: Share) => Math.min(bucket.burst, share.left + ((performance.now() - share.at) / 1000) * bucket.perSecond);

  async function fetch(subject: string, share: Share): Promise<void> {
    const returned = share.tokens;
    share.tokens = 0;
    const advance = share.before >= HOT ? BATCH : 0;
    const { taken, left } = await takeTokens(db, subject, bucket, Math.max(1, share.waiting, advance), returned);
    share.tokens = taken;
    share.left = left;
    share.at = performance.now();
  }

  /** Whether a token was available. An empty bucket is queried again only once it must contain one. */
  async function spend(subject: string, share: Share): Promise<boolean> {
    for (;;) {
      const fresh = performance.now() - share.at < KEPT_MS;
      if (fresh && share.tokens >= 1) {
        share.tokens -= 1;
        return true;
      }
      if (fresh && regained(share) < 1) return false;
      share.waiting++;
      share.fetching ??= fetch(subject, share).finally(() => {
        share.fetching = null;
      });
      await share.fetching.finally(() => share.waiting--);
    }
  }

  return {
    async take(subject) {
      const share = shares.get(subject) ?? newShare();
      shares.set(subject, share);
      note(share);
      const allowed = await spend(subject, share);
      const remaining = Math.min(bucket.burst, share.tokens + regained(share));
      return {
        allowed,
        headers: {
          'ratelimit-limit': String(perMinute),
          'ratelimit-remaining': String(Math.floor(remaining)),
          'ratelimit-reset': String(Math.ceil((bucket.burst - remaining) / bucket.perSecond)),
        },
        retryAfterSeconds: Math.max(1, Math.ceil((1 - remaining) / bucket.perSecond)),
      };
    },
  };
}

/** Sources of too many invalid requests, in this host's memory: refused before any query. */
export interface Throttle {
  /**
   * Throws `rate_limit_exceeded` if this subject, an address or an identity, has sent too many; never for a secret that was valid recently.
   */
  check(subject: string, secret?: string | null): void;
  /** Counts an invalid key, cookie or sign-in. */
  count(subject: string): void;
  /** Exempts a valid secret for some minutes, so that a flood from its address does not lock it out. */
  spare(secret: string): void;
}

/** Per address: burst, then rate. */
export const BAD_KEYS: Bucket = { burst: 300, perSecond: 5 };
/** Per address or identity; generous, because an office may share an address. */
export const FAILED_SIGN_INS: Bucket = { burst: 30, perSecond: 0.5 };
/** Per address: first connections of assistants. */
export const REGISTRATIONS: Bucket = { burst: 60, perSecond: 1 / 30 };
const SPARED_MS = 600_000;
const FULL = 2; // bursts: of requests that all arrived before the first was counted, no more delay the next one

/** `now` in milliseconds, monotonic. */
export function openThrottle(bucket: Bucket, now: () => number = () => performance.now()): Throttle {
  const bad = recentlyUsed<{ count: number; at: number }>(MOST); // leaky bucket, drained at `perSecond`
  const good = recentlyUsed<number>(MOST);
  const level = (subject: string) => {
    const entry = bad.get(subject);
    return entry ? Math.max(0, entry.count - ((now() - entry.at) / 1000) * bucket.perSecond) : 0;
  };
  return {
    check(address, secret) {
      const subject = networkOf(address);
      if (secret && now() - (good.get(secret) ?? Number.NEGATIVE_INFINITY) < SPARED_MS) return;
      const over = level(subject) - bucket.burst;
      if (over >= 0) throw new ApiError('rate_limit_exceeded', { retryAfterSeconds: Math.ceil((over + 1) / bucket.perSecond) });
    },
    count(address) {
      const subject = networkOf(address);
      const count = Math.min(level(subject) + 1, bucket.burst * FULL);
      bad.set(subject, { count, at: now() });
    },
    spare(secret) {
      good.set(secret, now());
    },
  };
}
