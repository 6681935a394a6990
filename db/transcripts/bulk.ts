import { type Actor, requireFullRights } from '../../api/contract/actor.ts';
import { ApiError, invalid } from '../../api/contract/errors.ts';
import { audit } from '../access/audit.ts';
import { NEXT_CHANGE } from '../postgres/expressions.ts';
import type { Db, Tx } from '../postgres/orm.ts';
import { uploadProject } from '../tenants/projects.ts';
import { hold, remove } from './mutate.ts';

/* Changes to many transcriptions, each in a transaction of its own: none waits for the others' locks. */

/** How many were changed, and how many the actor cannot see or may not change. */
export interface Outcome {
  done: string[];
  refused: number;
}

/** Moves transcriptions to a project, to which the actor must be allowed to upload; null: to none. */
export async function moveAll(db: Db, actor: Actor, ids: readonly string[], projectId: string | null): Promise<Outcome> {
  requireFullRights(actor);
  return each(ids, (id) => db.workspace(actor.workspaceId, (tx) => move(tx, actor, id, projectId)));
}

/** SQL: the row is locked under the predicate of all lists. */
async function move(tx: Tx, actor: Actor, id: string, projectId: string | null): Promise<boolean> {
  if (projectId !== null && !(await uploadProject(tx, actor, projectId)))
    throw invalid([{ field: 'project_id', message: 'must be a project to which you may upload' }]);
  const held = await hold(tx, actor, id);
  if (!held.editable) return false;
  await tx.rows(
    `update transcriptions t set project_id = ?::uuid, updated_at = ${NEXT_CHANGE} where t.workspace_id = ?::uuid and t.id = ?::uuid`,
    [projectId, actor.workspaceId, held.id],
  );
  await audit(tx, actor, 'transcription.move', held.id);
  return true;
}

/** Deletes transcriptions; `gone` removes the media of each after its commit. */
export async function removeAll(
  db: Db,
  actor: Actor,
  ids: readonly string[],
  gone: (media: { id: string; extension: string }) => Promise<void>,
): Promise<Outcome> {
  return each(ids, async (id) => {
    await gone(await db.workspace(actor.workspaceId, (tx) => remove(tx, actor, id)));
    return true;
  });
}

async function each(ids: readonly string[], change: (id: string) => Promise<boolean>): Promise<Outcome> {
  const outcome: Outcome = { done: [], refused: 0 };
  for (const id of new Set(ids)) {
    const changed = await change(id).catch((error: unknown) => {
      if (error instanceof ApiError && (error.code === 'forbidden' || error.code === 'not_found')) return false;
      throw error;
    });
    if (changed) outcome.done.push(id);
    else outcome.refused++;
  }
  return outcome;
}
