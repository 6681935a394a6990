import type { Db, Tx } from '../postgres/orm.ts';

/** A token bucket shared by all API hosts: at most `burst` tokens, refilled at `perSecond`. */
export interface Bucket {
  burst: number;
  perSecond: number;
}

/**
 * Takes up to `wanted` whole tokens from the bucket of `subject`, after putting back the `returned` ones. `left`: tokens left in the
 * bucket, with fractions. The row is locked, so that hosts never take more tokens than there are. SQL: frequent, and computed under the
 * lock of the row.
 */
export function takeTokens(
  db: Db,
  subject: string,
  bucket: Bucket,
  wanted: number,
  returned: number,
): Promise<{ taken: number; left: number }> {
  return db.acrossTenants(async (tx) => {
    const held = (await lockBucket(tx, subject, bucket)) ?? (await makeBucket(tx, subject, bucket));
    const tokens = Math.min(bucket.burst, held + returned);
    const taken = Math.floor(Math.min(tokens, wanted));
    // also if the clock was set back: otherwise nothing would be refilled until it has caught up
    await tx.rows('update rates set tokens = ?, refilled_at = clock_timestamp() where subject = ?', [tokens - taken, subject]);
    return { taken, left: tokens - taken };
  });
}

/** SQL: locks the bucket. Returns its current tokens; null if it does not exist yet. */
async function lockBucket(tx: Tx, subject: string, bucket: Bucket): Promise<number | null> {
  const row = await tx.row<{ tokens: number }>(
    `select least(?::float8, tokens + greatest(0, extract(epoch from clock_timestamp() - refilled_at)) * ?::float8)::float8 as tokens
     from rates where subject = ? for update`,
    [bucket.burst, bucket.perSecond, subject],
  );
  return row && Number(row.tokens);
}

/** SQL: two hosts may create it at once. */
async function makeBucket(tx: Tx, subject: string, bucket: Bucket): Promise<number> {
  await tx.rows('insert into rates (subject, tokens) values (?, ?) on conflict (subject) do nothing', [subject, bucket.burst]);
  return (await lockBucket(tx, subject, bucket)) ?? bucket.burst;
}

/** SQL: one statement of the sweep. Removes buckets unused for an hour: they are full again. */
export async function sweepBuckets(db: Db): Promise<void> {
  await db.acrossTenants((tx) => tx.rows(`delete from rates where refilled_at < now() - interval '1 hour'`));
}
