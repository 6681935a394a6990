import { listGrants, revokeGrant } from '../../../db/access/grants.ts';
import { listClients, removeClient } from '../../../db/access/oauth-clients.ts';
import { listSessions, revokeSession } from '../../../db/access/sessions.ts';
import { requireOperator } from '../../contract/actor.ts';
import { notFound } from '../../contract/errors.ts';
import { empty, json } from '../../http/route.ts';
import { page } from '../page.ts';

/** Sessions and grants of the person, and for owners of the workspace. `current` marks the session of this request. */
export const sessions = page({
  method: 'GET',
  path: '/sessions',
  async handler({ db }, actor) {
    const items = await db.workspace(actor.workspaceId, (tx) => listSessions(tx, actor));
    return json(200, { items: items.map((item) => ({ ...item, current: item.id === actor.sessionId })) });
  },
});

export const endSession = page({
  method: 'DELETE',
  path: '/sessions/{id}',
  async handler({ db, params }, actor) {
    await db.workspace(actor.workspaceId, (tx) => revokeSession(tx, actor, params.id!));
    return empty(204);
  },
});

export const grants = page({
  method: 'GET',
  path: '/grants',
  handler: async ({ db }, actor) => json(200, { items: await db.workspace(actor.workspaceId, (tx) => listGrants(tx, actor)) }),
});

export const endGrant = page({
  method: 'DELETE',
  path: '/grants/{id}',
  async handler({ db, params }, actor) {
    await db.workspace(actor.workspaceId, (tx) => revokeGrant(tx, actor, params.id!));
    return empty(204);
  },
});

/** Registered OAuth clients belong to the installation: a client may have grants in many workspaces. */
export const clients = page({
  method: 'GET',
  path: '/clients',
  async handler({ db }, actor) {
    requireOperator(actor);
    return json(200, { items: await db.acrossTenants(listClients) });
  },
});

export const endClient = page({
  method: 'DELETE',
  path: '/clients/{id}',
  async handler({ db, params }, actor) {
    requireOperator(actor);
    if (!(await db.acrossTenants((tx) => removeClient(tx, params.id!)))) throw notFound();
    return empty(204);
  },
});
