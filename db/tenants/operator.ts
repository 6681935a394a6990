import { type OperatorActor, operatorOf } from '../../api/contract/actor.ts';
import type { Db } from '../postgres/orm.ts';
import { lookupId } from './visibility.ts';

const WORKSPACE_OF = {
  workspace: 'select id as workspace_id from workspaces where id = ?',
  project: 'select workspace_id from projects where id = ?',
  key: 'select workspace_id from api_keys where id = ?',
  session: 'select workspace_id from sessions where id = ?',
  grant: 'select workspace_id from oauth_tokens where family = ? limit 1',
};

/** The operator at work on the workspace with this id, or on that of one of its things. Throws when there is none. */
export async function operatorOn(db: Db, kind: keyof typeof WORKSPACE_OF, id: string): Promise<OperatorActor> {
  const row = await db.acrossTenants((tx) => tx.row<{ workspace_id: string }>(WORKSPACE_OF[kind], [lookupId(id)]));
  if (!row) throw new Error(`There is no ${kind} ${id}`);
  return operatorOf(row.workspace_id);
}
