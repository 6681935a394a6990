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
    `select t.id, t.status from jsonb_to_recordset(?::jsonb) as q(id uuid, workspace uuid)
     join transcriptions t on t.id = q.id and t.workspace_id = q.workspace`,
    [JSON.stringify(places.map(({ id, workspaceId }) => ({ id, workspace: workspaceId })))],
  );
  return new Map(rows.map(({ id, status }) => [id, status]));
}
