import { LRUCache } from 'lru-cache';
import { type Bucket, takeTokens } from '../../db/access/rate-limits.ts';
import type { Db } from '../../db/postgres/orm.ts';
import { ApiError } from '../contract/errors.ts';
import { LIMITS } from '../contract/limits.ts';
import type { Settings } from '../contract/settings.ts';
import { networkOf } from './network.ts';

/** What a caller's request rate allows at the moment. */
export interface Allowance {
  allowed: boolean;
  /** RateLimit-* headers of the answer. */
  headers: Readonly<Record<string, string>>;
  /** Whole seconds until one request is allowed again, at least 1. */
  retryAfterSeconds: number;
}

/** The request rate per key or token, over all API hosts together. */
export interface RateLimiter {
  /** Counts one request. */
  take(subject: string): Promise<Allowance>;
}

const BATCH = 10; // tokens a host takes at once, at most
const HOT = 50; // requests of a subject a second, from which on a host takes tokens in advance
const KEPT_MS = 1_000; // what a host did not use goes back with its next query
const MOST = 50_000; // subjects held

interface Share {
  /** Taken from the bucket, not yet used. */
  tokens: number;
  /** Requests that wait for a token now. */
  waiting: number;
  /** Requests in the second that began at `since`, and in the one before. */
  asked: number;
  before: number;
  since: number;
  /** In the bucket after the last query, at `at`. */
  left: number;
  at: number;
  fetching: Promise<void> | null;
}

function newShare(): Share {
  return { tokens: 0, waiting: 0, asked: 0, before: 0, since: performance.now(), left: 0, at: Number.NEGATIVE_INFINITY, fetching: null };
}

/** Counts a request of the present second. */
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
 * A host takes tokens one by one, or as many as wait for one: none lies unused at one host while another refuses. Only of a subject that sends very much
 * to one host are some taken in advance. `600/min` is 600 a minute with bursts of 100; other rates have bursts in proportion; `0` is off,
 * without headers.
 */
export function openRateLimiter(db: Db, rate: Settings['LONGHAND_RATE_LIMIT']): RateLimiter {
  const perMinute = Number.parseInt(rate, 10);
  if (perMinute === 0) return { take: async () => ({ allowed: true, headers: {}, retryAfterSeconds: 1 }) };
  const bucket: Bucket = {
    burst: Math.max(1, Math.floor((perMinute * LIMITS.REQUEST_BURST) / LIMITS.REQUESTS_PER_MIN)),
    perSecond: perMinute / 60,
  };
  const shares = new LRUCache<string, Share>({ max: MOST });
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

  /** True when a token was there. An empty bucket is asked again only when it must hold one. */
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

/** Who sends too much that is bad, in the memory of this host: refused before any query. */
export interface Throttle {
  /** Throws `rate_limit_exceeded` when this subject, an address or an identity, has sent too much; never for a secret that was good just now. */
  check(subject: string, secret?: string | null): void;
  /** Notes one bad key, cookie or sign-in. */
  count(subject: string): void;
  /** Notes a good one: for the next minutes a flood from its address does not shut it out. */
  spare(secret: string): void;
}

/** Of one address: so many at once, then so many a second. */
export const BAD_KEYS: Bucket = { burst: 300, perSecond: 5 };
/** Of one address or one identity: an office may mistype. */
export const FAILED_SIGN_INS: Bucket = { burst: 30, perSecond: 0.5 };
/** Of one address: assistants that people connect for the first time. */
export const REGISTRATIONS: Bucket = { burst: 60, perSecond: 1 / 30 };
const SPARED_MS = 600_000;

/** `now` in milliseconds, from any fixed start. */
export function openThrottle(bucket: Bucket, now: () => number = () => performance.now()): Throttle {
  const bad = new LRUCache<string, { count: number; at: number }>({ max: MOST }); // a count that leaks `perSecond`
  const good = new LRUCache<string, number>({ max: MOST });
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
      const count = level(subject) + 1;
      bad.set(subject, { count, at: now() });
    },
    spare(secret) {
      good.set(secret, now());
    },
  };
}
