import { LRUCache } from 'lru-cache';
import type { Db } from '../postgres/orm.ts';

/* SQL: totals. */

/** How many transcriptions of the days before `day` a filter finds, counted when the list of those days was at `version`. */
export interface Counted {
  /** YYYY-MM-DD, UTC. */
  day: string;
  version: string;
  total: number;
  /** All of them, when they are few; null: not known. */
  ids: string[] | null;
}

/**
 * Remembers totals, for counting hundreds of thousands takes longer than finding a page. Exact all the same: `list_changes` says whether
 * anything of those days changed since, and what was created later is counted each time.
 */
export interface Totals {
  find(filter: string): Counted | undefined;
  keep(filter: string, counted: Counted): void;
}

/** So few are remembered one by one: where filters hardly ever meet, finding a page takes as long as counting. */
export const FEW = 200;
const MOST = 2_000; // filters remembered, the least recently used goes first

export function openTotals(most = MOST): Totals {
  const known = new LRUCache<string, Counted>({ max: most });
  return {
    find: (filter) => known.get(filter),
    keep: (filter, counted) => void known.set(filter, counted),
  };
}

/** SQL: the version of the list of a workspace before a day, both parameters: it grows with every change and never goes back. */
export const LIST_VERSION = `(select coalesce(sum(h.changes), 0) from list_changes h where h.workspace_id = ?::uuid and h.day < ?::date)`;

/** Sums up what was noted, so that a version is read from a few rows: days that lie two days back are one. The versions stay as they are. */
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
