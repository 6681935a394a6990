import { z } from 'zod';
import { leadsInside } from '../../../db/webhooks/destination.ts';
import {
  createWebhook,
  deleteWebhook,
  listDeliveries,
  listWebhooks,
  replayDelivery,
  setWebhookActive,
} from '../../../db/webhooks/endpoints.ts';
import { invalid } from '../../contract/errors.ts';
import { empty, json } from '../../http/route.ts';
import { page } from '../page.ts';

const Target = z
  .url({ protocol: /^https?$/, error: 'must be an http or https address' })
  .max(2_000)
  .refine((url) => !URL.canParse(url) || !(new URL(url).username + new URL(url).password), 'must not contain a user name or password');

const INSIDE =
  'leads to this machine or to a private network, where deliveries are refused; the operator can allow them with LONGHAND_WEBHOOK_PRIVATE=allow';

export const webhooks = page({
  method: 'GET',
  path: '/webhooks',
  handler: async ({ db }, actor) => json(200, { items: await db.workspace(actor.workspaceId, (tx) => listWebhooks(tx, actor)) }),
});

export const newWebhook = page({
  method: 'POST',
  path: '/webhooks',
  body: z.strictObject({ url: Target }),
  async handler(context, actor) {
    const { url } = await context.body();
    if (context.settings.LONGHAND_WEBHOOK_PRIVATE === 'refuse' && (await leadsInside(url)))
      throw invalid([{ field: 'url', message: INSIDE }]);
    return json(201, await context.db.workspace(actor.workspaceId, (tx) => createWebhook(tx, context.vault, actor, url)));
  },
});

export const updateWebhook = page({
  method: 'PATCH',
  path: '/webhooks/{id}',
  body: z.strictObject({ active: z.boolean() }),
  async handler(context, actor) {
    const { active } = await context.body();
    return json(200, await context.db.workspace(actor.workspaceId, (tx) => setWebhookActive(tx, actor, context.params.id!, active)));
  },
});

export const removeWebhook = page({
  method: 'DELETE',
  path: '/webhooks/{id}',
  async handler({ db, params }, actor) {
    await db.workspace(actor.workspaceId, (tx) => deleteWebhook(tx, actor, params.id!));
    return empty(204);
  },
});

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
