import type { Db } from '../postgres/orm.ts';
import type { Media } from './complete.ts';

/* SQL: batches, each found by an index range. */

export const KEPT_BATCH = 200;

/**
 * SQL: when a kept recording must be gone: its term, which a policy that was shortened since, of the workspace or the operator, shortens
 * too; one that was extended changes nothing. One parameter: the operator's maximum, in days.
 */
export const KEPT_UNTIL = `least(t.media_until, t.completed_at + least(w.keep_recordings_days, ?::int) * interval '1 day')`;

/** Kept recordings past their term, and those whose policy has been shortened below their age, except some. */
export async function expiredMedia(db: Db, keepDays: number, except: readonly string[] = []): Promise<Media[]> {
  const columns = 't.id, t.workspace_id, t.extension';
  const rows = await db.query<{ id: string; workspace_id: string; extension: string }>(
    '*',
    `(select ${columns} from transcriptions t where t.media_until <= now() and t.id <> all (?::uuid[]) order by t.media_until limit ${KEPT_BATCH})
     union
     (select old.* from workspaces w cross join lateral (select ${columns} from transcriptions t
        where t.workspace_id = w.id and t.media_until is not null
          and t.completed_at <= now() - least(w.keep_recordings_days, ?::int) * interval '1 day'
          and t.id <> all (?::uuid[])
        order by t.completed_at limit ${KEPT_BATCH}) old limit ${KEPT_BATCH})`,
    [except, keepDays, except],
  );
  return rows.map(({ id, workspace_id, extension }) => ({ id, workspaceId: workspace_id, extension }));
}
