import type { Actor } from '../../api/contract/actor.ts';

/** A condition on `transcriptions t`, with its parameters in order. */
export interface Condition {
  sql: string;
  parameters: unknown[];
}

/** The actor as SQL expressions: a workspace id, a member id, and whether the member owns the workspace. */
export interface Operands {
  workspace: string;
  member: string;
  owner: string;
}

/**
 * Owners reach the whole workspace; members reach what they wrote or created and what is in their projects. Each branch has its own index.
 */
function reach({ workspace, member, owner }: Operands, projects: string): string {
  return `t.workspace_id = ${workspace} and (${owner} or t.author_id = ${member} or t.creator_id = ${member} or t.project_id = any (array(
    select pm.project_id from project_members pm where pm.workspace_id = ${workspace} and pm.member_id = ${member}${projects})))`;
}

/** Visibility of transcriptions: the single predicate of list, get, patch, delete, export and report requests. */
export function visibleTo(operands: Operands): string {
  return reach(operands, '');
}

export function visible(actor: Actor): Condition {
  return { sql: visibleTo(MARKS), parameters: marked(actor) };
}

/** Filter for visible transcriptions that the actor may change: their own, and those of projects they edit or own; for an owner all. */
export function editable(actor: Actor): Condition {
  return { sql: reach(MARKS, ` and pm.role in ('editor', 'owner')`), parameters: marked(actor) };
}

const MARKS: Operands = { workspace: '?::uuid', member: '?::uuid', owner: '?::boolean' };

/** The parameters of `reach` over MARKS, in the order of its text. */
function marked(actor: Actor): unknown[] {
  const { workspaceId, memberId } = actor;
  return [workspaceId, actor.role === 'owner', memberId, memberId, workspaceId, memberId];
}

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;
/** An id that no row has. Malformed ids are replaced by it, so that they cost the same queries as absent ones. */
const NO_ID = '00000000-0000-0000-0000-000000000000';

/** True for the usual form with hyphens, in any letter case. */
export function isUuid(text: string): boolean {
  return UUID.test(text);
}

/** The id, or NO_ID if it is malformed. */
export function lookupId(id: string): string {
  return isUuid(id) ? id : NO_ID;
}
