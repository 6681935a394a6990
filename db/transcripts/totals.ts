import { LRUCache } from 'lru-cache';
import type { Db } from '../postgres/orm.ts';

/* SQL: totals. */

/** Number of matches on the days before `day`, counted when the list of those days was at `version`. */
export interface Counted {
  /** YYYY-MM-DD, UTC. */
  day: string;
  version: string;
  total: number;
  /** All ids if there are few; null: unknown. */
  ids: string[] | null;
}

/**
 * Caches totals, because counting hundreds of thousands of rows takes longer than finding a page. Still exact: `list_changes` shows whether
 * anything changed on those days, and later rows are counted each time.
 */
export interface Totals {
  find(filter: string): Counted | undefined;
  keep(filter: string, counted: Counted): void;
  /** For search: see db/transcripts/screen.ts. */
  screens: Pick<LRUCache<string, Screen>, 'get' | 'set'>;
}

/** Search numbers of all transcriptions before `day` that pass a filter, when the list of those days was at `version`. */
export interface Screen {
  /** YYYY-MM-DD, UTC. */
  day: string;
  version: string;
  /** The highest number at that time. */
  last: number;
  /** A bit for each number, lowest first in every byte. */
  bits: Uint8Array;
  /** The numbers in the order of `-created_at`; null: too many to cache. */
  newestFirst: Uint32Array | null;
}

/** Up to this many ids are cached: with very selective filter combinations, finding a page takes as long as counting. */
export const FEW = 200;
const MOST = 2_000; // filters cached (LRU)
const SCREEN_BYTES = 64 * 2 ** 20; // in a workspace with a million transcripts, 100 filters that a tenth of them pass

export function openTotals(most = MOST): Totals {
  const known = new LRUCache<string, Counted>({ max: most });
  const screens = new LRUCache<string, Screen>({ maxSize: SCREEN_BYTES, sizeCalculation: sizeOf });
  return {
    find: (filter) => known.get(filter),
    keep: (filter, counted) => void known.set(filter, counted),
    screens,
  };
}

function sizeOf({ bits, newestFirst }: Screen): number {
  return bits.length + (newestFirst?.byteLength ?? 0) + 200;
}

/** SQL: change counter of a workspace's list before a day, both parameters; only increases. */
export const LIST_VERSION = `(select coalesce(sum(h.changes), 0) from list_changes h where h.workspace_id = ?::uuid and h.day < ?::date)`;

/** Aggregates change counters, so that a version is read from few rows: days at least two days back are merged. Versions are unaffected. */
export async function sumUpChanges(db: Db): Promise<void> {
  await db.reserved((tx) =>
    tx.rows(
      `with noted as (select h.id, h.workspace_id, case when h.day < (now() at time zone 'utc')::date - 1 then '-infinity'::date else h.day end as day
           from list_changes h),
         many as (select workspace_id, day from noted group by workspace_id, day having count(*) > 1),
         gone as (delete from list_changes h using noted n join many m using (workspace_id, day) where h.id = n.id
           returning n.workspace_id, n.day, h.changes)
       insert into list_changes (workspace_id, day, changes) select workspace_id, day, sum(changes) from gone group by workspace_id, day`,
    ),
  );
}
