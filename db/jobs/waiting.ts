import type { Db } from '../postgres/orm.ts';

/* SQL: all engines query this every few seconds. */

/** Available work, by kind. */
export interface Waiting {
  probes: boolean;
  transcriptions: boolean;
  reports: boolean;
  previews: boolean;
  /** Transcripts to index, or blocks of the search index to merge. */
  searches: boolean;
  layers: boolean;
}

/** Looks for work without taking any: one statement, each part of which ends at the first row of an index. For what lost its job. */
export async function readWaiting(db: Db): Promise<Waiting> {
  const [row] = await db.query<Waiting & object>(
    '*',
    `select exists (select from turns q where q.lane = 'probe' and q.due_at <= now()) as probes,
       exists (select from turns q where q.lane <> 'probe' and not q.busy and q.due_at <= now()) as transcriptions,
       exists (select from report_turns r where r.due_at <= now()) as reports,
       exists (select from previews p where p.status in ('queued', 'processing') and p.lease_token is null and p.run_after <= now()) as previews,
       exists (select from search_waiting w where w.due_at <= now()) or exists (select from search_states s where s.due and s.merged_until <= now()) as searches,
       exists (select from layers l where l.status = 'queued') as layers`,
  );
  return row!;
}
