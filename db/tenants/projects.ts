import type { Project } from '../../api/contract/workspace.ts';
import type { Tx } from '../postgres/orm.ts';
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

interface Place {
  id: string;
  name: string;
}

/** Where files may be uploaded to: the viewer is editor or owner of the project, or owner of the workspace. */
const OPEN = `p.workspace_id = ? and (? or exists (select 1 from project_members pm
  where pm.project_id = p.id and pm.workspace_id = p.workspace_id and pm.member_id = ? and pm.role in ('editor', 'owner')))`;
const opening = (viewer: Viewer) => [viewer.workspaceId, viewer.role === 'owner', viewer.memberId];

/** The project a file may be uploaded to. Null for an unknown, a foreign and a closed one alike. */
export function uploadProject(tx: Tx, viewer: Viewer, projectId: string): Promise<Place | null> {
  return tx.row<Place>(`select p.id, p.name from projects p where ${OPEN} and p.id = ?`, [...opening(viewer), lookupId(projectId)]);
}

/** All of them, by name. */
export function uploadProjects(tx: Tx, viewer: Viewer): Promise<Place[]> {
  return tx.rows<Place>(`select p.id, p.name from projects p where ${OPEN} order by lower(p.name), p.id`, opening(viewer));
}
