import { LEASE } from '../../api/contract/limits.ts';
import { SOURCE_HELD } from '../ops/facts.ts';
import { runEach } from '../postgres/each.ts';
import type { Db } from '../postgres/orm.ts';
import { MERGE_LEASE } from '../search/blocks.ts';
import { LEASE_SECONDS } from '../search/keep.ts';
import { correctDeliveries } from '../webhooks/outbox.ts';
import { LONGEST_BACK_OFF } from './leases.ts';

/* SQL: uses the database's clock. Every lease, back-off and expiry is set and checked by it, so host clocks do not matter. It may still be
   set forward, which expires live leases, or back, which leaves times far in the future. */

const LEEWAY = 5; // seconds
const RENEWAL = LEASE.heartbeatSeconds + LEEWAY; // seconds within which all live processes renew their leases

/** Seconds since 1970 by the database's clock. */
export async function databaseSeconds(db: Db): Promise<number> {
  const [row] = await db.query<{ seconds: number }>('*', 'select extract(epoch from clock_timestamp())::float8 as seconds');
  return row!.seconds;
}

/** Compares the database's clock with this process's monotonic clock. */
export interface ClockWatch {
  /**
   * Reads the database's clock. Returns by how many seconds it has been set ahead or, negative, back since the last reading: 0 up to
   * 5 seconds, null at the first reading.
   */
  read(): Promise<number | null>;
  /**
   * Upper bound on the true time, seconds since 1970; null before the first reading. What expires only after it may belong to a live process:
   * after the clock was set ahead, the bound follows when all of them have had time to renew their leases.
   */
  latest(): number | null;
}

/** `now`: seconds of the monotonic clock. */
export function openClockWatch(db: Db, now = () => performance.now() / 1000): ClockWatch {
  let known: number | null = null; // seconds ahead of the monotonic clock
  let held = { offset: 0, until: Number.NEGATIVE_INFINITY };
  return {
    async read() {
      const offset = (await databaseSeconds(db)) - now();
      const change = known === null ? null : offset - known;
      if (change !== null && change > LEEWAY) held = { offset: now() < held.until ? held.offset : known!, until: now() + RENEWAL };
      known = offset;
      return change === null || Math.abs(change) > LEEWAY ? change : 0;
    },
    latest() {
      if (known === null) return null;
      return now() + LEEWAY + (now() < held.until ? Math.min(held.offset, known) : known);
    },
  };
}

const AHEAD = {
  held: `clock_timestamp() + interval '${LEASE.expirySeconds + LEEWAY} seconds'`,
  served: `clock_timestamp() + interval '${LEEWAY} seconds'`,
  due: `clock_timestamp() + interval '${LONGEST_BACK_OFF + LEEWAY} seconds'`,
};

/**
 * Detects times of turns and leases further ahead than they are ever set: the clock was set back, possibly between two checks. Reads narrow
 * tables.
 */
export async function hasTimesAhead(db: Db): Promise<boolean> {
  const sql = `select exists (select from turns where due_at > ${AHEAD.due} or served_at > ${AHEAD.served}) or exists (select from leases where until > ${AHEAD.held})
    or exists (select from report_turns where due_at > ${AHEAD.due} and due_at < 'infinity' or served_at > ${AHEAD.served}) as ahead`;
  return (await db.query<{ ahead: boolean }>('*', sql))[0]!.ahead;
}

/**
 * Corrects times further ahead than is ever set, after the clock was set back. Otherwise dead engines would hold work for that long,
 * workspaces served just before would be passed over, deliveries would wait, and work would wait for a host that cannot do it. Corrects the
 * same whoever calls it, and however often.
 */
export async function correctTimes(db: Db): Promise<number> {
  const leased = `lease_until > ${AHEAD.held}`;
  const renewed = `lease_until = clock_timestamp() + interval '${LEASE.expirySeconds} seconds'`;
  const waits = `run_after > ${AHEAD.due}`;
  const statements = [
    `update leases set until = clock_timestamp() + interval '${LEASE.expirySeconds} seconds' where until > ${AHEAD.held} returning 1`,
    `update turns set due_at = clock_timestamp() where due_at > ${AHEAD.due} returning 1`,
    `update report_turns set due_at = clock_timestamp() where due_at > ${AHEAD.due} and due_at < 'infinity' returning 1`,
    ...['turns', 'report_turns', 'workspaces'].map(
      (table) => `update ${table} set served_at = clock_timestamp() where served_at > clock_timestamp() returning 1`,
    ),
    ...['transcriptions', 'reports', 'previews'].flatMap((table) => [
      `update ${table} set ${renewed} where lease_token is not null and ${leased} returning 1`,
      `update ${table} set run_after = clock_timestamp() where status in ('queued', 'processing') and ${waits} returning 1`,
    ]),
    `update transcriptions set host_fault_at = clock_timestamp()
     where status in ('queued', 'processing') and host_fault_at > clock_timestamp() + interval '${LEEWAY} seconds' returning 1`,
    `update search_states set merged_until = clock_timestamp() + ${MERGE_LEASE}
     where merged_until > clock_timestamp() + ${MERGE_LEASE} + interval '${LEEWAY} seconds' returning 1`,
    `update search_waiting set due_at = clock_timestamp() where due_at > now() + interval '${LEEWAY} seconds' and due_at < 'infinity'
       and due_at > now() + (attempt * ${LEASE_SECONDS} + ${LEEWAY}) * interval '1 second' returning 1`,
    `update upload_leases set ${renewed} where ${leased} returning 1`,
    `update idempotency_keys set ${renewed} where answer is null and ${leased} returning 1`,
    `update transcriptions set completed_at = clock_timestamp(), media_until = clock_timestamp() + (media_until - completed_at)
     where media_until is not null and completed_at > clock_timestamp() + interval '${LEEWAY} seconds' returning 1`,
    `update spool_orphans set seen_at = clock_timestamp() where seen_at > clock_timestamp() + interval '${LEEWAY} seconds' returning 1`,
    `update metrics_source set until = clock_timestamp() + interval '${SOURCE_HELD} seconds'
     where until > clock_timestamp() + interval '${SOURCE_HELD + LEEWAY} seconds' returning 1`,
    `update engines set last_seen = clock_timestamp() where last_seen > clock_timestamp() + interval '${LEEWAY} seconds' returning 1`,
  ];
  let corrected = 0;
  await runEach([
    ...statements.map((statement) => async () => {
      corrected += (await db.query('*', statement)).length;
    }),
    async () => {
      corrected += await correctDeliveries(db, LEEWAY);
    },
  ]);
  return corrected;
}
