import { listDeliveries, replayDelivery } from '../../../db/webhooks/endpoints.ts';
import { empty, json } from '../../http/route.ts';
import { page } from '../page.ts';

export const deliveries = page({
  method: 'GET',
  path: '/webhooks/{id}/deliveries',
  handler: async ({ db, params }, actor) =>
    json(200, { items: await db.workspace(actor.workspaceId, (tx) => listDeliveries(tx, actor, params.id!)) }),
});

export const replay = page({
  method: 'POST',
  path: '/deliveries/{id}/replay',
  async handler({ db, params }, actor) {
    await db.workspace(actor.workspaceId, (tx) => replayDelivery(tx, actor, params.id!));
    return empty(202);
  },
});
