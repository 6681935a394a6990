import { type OperatorActor, operatorOf } from '../../api/contract/actor.ts';
import { ApiKey, Project } from '../postgres/entities/member.ts';
import { OauthToken, Session } from '../postgres/entities/oauth.ts';
import { Workspace } from '../postgres/entities/workspace.ts';
import type { Db, Tx } from '../postgres/orm.ts';
import { lookupId } from './visibility.ts';

const WORKSPACE_OF = {
  workspace: async ({ em }: Tx, id: string) => (await em.findOne(Workspace, { id, deletedAt: null }))?.id,
  project: async ({ em }: Tx, id: string) => (await em.findOne(Project, { id }))?.workspaceId,
  key: async ({ em }: Tx, id: string) => (await em.findOne(ApiKey, { id }))?.workspaceId,
  session: async ({ em }: Tx, id: string) => (await em.findOne(Session, { id }))?.workspaceId,
  grant: async ({ em }: Tx, family: string) => (await em.findOne(OauthToken, { family }))?.workspaceId,
};

/** The operator as an actor in the workspace with this id, or in that of an object with this id. Throws if there is none. */
export async function operatorOn(db: Db, kind: keyof typeof WORKSPACE_OF, id: string): Promise<OperatorActor> {
  const workspaceId = await db.acrossTenants((tx) => WORKSPACE_OF[kind](tx, lookupId(id)));
  if (!workspaceId) throw new Error(`There is no ${kind} ${id}`);
  return operatorOf(workspaceId);
}
