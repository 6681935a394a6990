import { LEASE } from '../../api/contract/limits.ts';
import type { Db } from '../postgres/orm.ts';

/*
 * SQL: what is judged by the clock of the database.
 * Every lease, back-off and expiry is set and judged by the clock of the database: host clocks do not matter. Its own clock may still be put
 * forward, which lets living leases run out, or back, which leaves times far in the future.
 */

const LONGEST_WAIT = 90; // seconds; no back-off of work is longer
const LEEWAY = 5; // seconds

/** Seconds since 1970 by the clock of the database. */
export async function databaseSeconds(db: Db): Promise<number> {
  const [row] = await db.query<{ seconds: number }>('*', 'select extract(epoch from clock_timestamp())::float8 as seconds');
  return row!.seconds;
}

const AHEAD = {
  held: `clock_timestamp() + interval '${LEASE.expirySeconds + LEEWAY} seconds'`,
  due: `clock_timestamp() + interval '${LONGEST_WAIT + LEEWAY} seconds'`,
};

/** Whether turns or leases lie further ahead than any is ever put: the clock was put back, perhaps between two looks at it. Reads two narrow tables. */
export async function hasTimesAhead(db: Db): Promise<boolean> {
  const sql = `select exists (select from turns where due_at > ${AHEAD.due}) or exists (select from leases where until > ${AHEAD.held}) as ahead`;
  return (await db.query<{ ahead: boolean }>('*', sql))[0]!.ahead;
}

/** Brings back times that lie further ahead than any is ever set: the clock was put back. Otherwise the dead would hold work for as long. */
export async function mendTimes(db: Db): Promise<number> {
  const leased = `lease_until > ${AHEAD.held}`;
  const renewed = `lease_until = clock_timestamp() + interval '${LEASE.expirySeconds} seconds'`;
  const waits = `run_after > ${AHEAD.due}`;
  const statements = [
    `update leases set until = clock_timestamp() + interval '${LEASE.expirySeconds} seconds' where until > ${AHEAD.held} returning 1`,
    `update turns set due_at = clock_timestamp() where due_at > ${AHEAD.due} returning 1`,
    ...['transcriptions', 'reports'].flatMap((table) => [
      `update ${table} set ${renewed} where lease_token is not null and ${leased} returning 1`,
      `update ${table} set run_after = clock_timestamp() where status in ('queued', 'processing') and ${waits} returning 1`,
    ]),
    `update upload_leases set ${renewed} where ${leased} returning 1`,
    `update idempotency_keys set ${renewed} where answer is null and ${leased} returning 1`,
    `update engines set last_seen = clock_timestamp() where last_seen > clock_timestamp() + interval '${LEEWAY} seconds' returning 1`,
  ];
  let mended = 0;
  for (const statement of statements) mended += (await db.query('*', statement)).length;
  return mended;
}
