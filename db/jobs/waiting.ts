import type { Db } from '../postgres/orm.ts';

/* SQL: all engines query this every few seconds. */

/** Available work, by kind. */
export interface Waiting {
  probes: boolean;
  transcriptions: boolean;
  /** And previews. */
  reports: boolean;
  deliveries: boolean;
  /** Transcripts to index, or blocks of the search index to merge. */
  searches: boolean;
  layers: boolean;
}

/**
 * Looks for work without claiming it: one statement, each part of which ends at the first row of an index. For engines and couriers whose
 * notification went elsewhere.
 */
export async function readWaiting(db: Db): Promise<Waiting> {
  const [row] = await db.query<Waiting & object>(
    '*',
    `select exists (select from turns q where q.lane = 'probe' and q.due_at <= now()) as probes,
       exists (select from turns q where q.lane <> 'probe' and not q.busy and q.due_at <= now()) as transcriptions,
       exists (select from reports r where r.status in ('queued', 'processing') and r.lease_token is null and r.run_after <= now()
           and exists (select from transcriptions t where t.id = r.transcription_id and t.status = 'completed'))
         or exists (select from previews p where p.status in ('queued', 'processing')) as reports,
       exists (select from deliveries d where d.status = 'pending' and d.next_at between now() - interval '2 days' and now()) as deliveries,
       exists (select from search_waiting w where w.due_at <= now()) or exists (select from search_states s where s.due and s.merged_until <= now()) as searches,
       exists (select from layers l where l.status = 'queued') as layers`,
  );
  return row!;
}
