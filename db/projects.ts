import type { Project } from '../api/contract/workspace.ts';
import type { Tx } from './orm.ts';
import { lookupId, type Viewer } from './visibility.ts';

/** Projects the viewer sees, newest first, ties by id: all for an owner, else those they belong to. */
export function listProjects(tx: Tx, viewer: Viewer): Promise<Project[]> {
  return tx.rows<Project>(
    `select p.id, p.name, to_char(p.created_at at time zone 'utc', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as created_at
     from projects p
     where p.workspace_id = ?
       and (? or exists (select 1 from project_members pm where pm.project_id = p.id and pm.workspace_id = p.workspace_id and pm.member_id = ?))
     order by p.created_at desc, p.id`,
    [viewer.workspaceId, viewer.role === 'owner', viewer.memberId],
  );
}

/**
 * The project a file may be uploaded to: the viewer is its editor or owner, or owner of the workspace. Null for an unknown, a foreign and a
 * closed one alike.
 */
export function uploadProject(tx: Tx, viewer: Viewer, projectId: string): Promise<{ id: string; name: string } | null> {
  return tx.row<{ id: string; name: string }>(
    `select p.id, p.name from projects p
     where p.workspace_id = ? and p.id = ?
       and (? or exists (select 1 from project_members pm
         where pm.project_id = p.id and pm.workspace_id = p.workspace_id and pm.member_id = ? and pm.role in ('editor', 'owner')))`,
    [viewer.workspaceId, lookupId(projectId), viewer.role === 'owner', viewer.memberId],
  );
}
