import type { Status } from '../../api/contract/transcription.ts';
import type { Db } from '../postgres/orm.ts';

/* SQL: thousands of waiting clients are served by one statement. */

/** A transcription by workspace and id. */
export interface Place {
  workspaceId: string;
  id: string;
}

/** The statuses of these transcriptions by id, in one query; deleted ones are left out. Does not check visibility. */
export async function readStatuses(db: Db, places: readonly Place[]): Promise<Map<string, Status>> {
  const rows = await db.query<{ id: string; status: Status }>(
    '*',
    // the limit keeps the planner, which expects 100 places, from joining with the whole table
    `select t.id, t.status from jsonb_to_recordset(?::jsonb) as q(id uuid, workspace uuid) cross join lateral
       (select id, status from transcriptions where id = q.id and workspace_id = q.workspace limit 1) t`,
    [JSON.stringify(places.map(({ id, workspaceId }) => ({ id, workspace: workspaceId })))],
  );
  return new Map(rows.map(({ id, status }) => [id, status]));
}
