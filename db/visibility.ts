import type { Role } from '../api/contract/workspace.ts';

/** On whose behalf the database is asked: the creator of the key (or of the token), and the key itself. */
export interface Viewer {
  workspaceId: string;
  memberId: string;
  role: Role;
  /** Null under an OAuth token and in the console. */
  keyId: string | null;
}

/** A condition on `transcriptions t`, with its parameters in order. */
export interface Condition {
  sql: string;
  parameters: unknown[];
}

const ALL = (viewer: Viewer): Condition => ({ sql: 't.workspace_id = ?', parameters: [viewer.workspaceId] });

/**
 * Which transcriptions a viewer may see (contract 1.4): an owner all of the workspace, a member those they wrote or created and those of
 * their projects. The one predicate of list, get, patch, delete, export and report requests. Each arm has its index.
 */
export function visible(viewer: Viewer): Condition {
  if (viewer.role === 'owner') return ALL(viewer);
  return {
    sql: `t.workspace_id = ? and (t.author_id = ? or t.creator_id = ? or t.project_id = any (array(
      select pm.project_id from project_members pm where pm.workspace_id = ? and pm.member_id = ?)))`,
    parameters: [viewer.workspaceId, viewer.memberId, viewer.memberId, viewer.workspaceId, viewer.memberId],
  };
}

/** Which of the visible ones a viewer may change: their own, those of projects they edit or own, for an owner all. */
export function editable(viewer: Viewer): Condition {
  if (viewer.role === 'owner') return ALL(viewer);
  return {
    sql: `t.workspace_id = ? and (t.author_id = ? or t.creator_id = ? or t.project_id = any (array(
      select pm.project_id from project_members pm where pm.workspace_id = ? and pm.member_id = ? and pm.role in ('editor', 'owner'))))`,
    parameters: [viewer.workspaceId, viewer.memberId, viewer.memberId, viewer.workspaceId, viewer.memberId],
  };
}

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;
/** No row has it: what a malformed id is looked up as, so that it costs the same queries as an absent one. */
const NOBODY = '00000000-0000-0000-0000-000000000000';

/** True for the usual form with hyphens, in any letter case. */
export function isUuid(text: string): boolean {
  return UUID.test(text);
}

/** The id itself, or one that no row has. */
export function lookupId(id: string): string {
  return isUuid(id) ? id : NOBODY;
}
