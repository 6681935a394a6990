import { z } from 'zod';
import { addWebhook, listDeliveries, listWebhooks, removeWebhook, replayDelivery, switchWebhook } from '../../../db/webhooks/endpoints.ts';
import { empty, json } from '../../http/route.ts';
import { page } from '../page.ts';

const Target = z
  .url({ protocol: /^https?$/, error: 'must be an http or https address' })
  .max(2_000)
  .refine((url) => !URL.canParse(url) || !(new URL(url).username + new URL(url).password), 'must not hold a user name or password');

export const webhooks = page({
  method: 'GET',
  path: '/webhooks',
  owner: true,
  handler: async ({ db }, { caller }) =>
    json(200, { items: await db.workspace(caller.workspaceId, (tx) => listWebhooks(tx, caller.workspaceId)) }),
});

export const createWebhook = page({
  method: 'POST',
  path: '/webhooks',
  owner: true,
  body: z.strictObject({ url: Target }),
  async handler(context, { caller }) {
    const { url } = await context.body();
    return json(201, await context.db.workspace(caller.workspaceId, (tx) => addWebhook(tx, context.vault, caller.workspaceId, url)));
  },
});

export const updateWebhook = page({
  method: 'PATCH',
  path: '/webhooks/{id}',
  owner: true,
  body: z.strictObject({ active: z.boolean() }),
  async handler(context, { caller }) {
    const { active } = await context.body();
    return json(
      200,
      await context.db.workspace(caller.workspaceId, (tx) => switchWebhook(tx, caller.workspaceId, context.params.id!, active)),
    );
  },
});

export const deleteWebhook = page({
  method: 'DELETE',
  path: '/webhooks/{id}',
  owner: true,
  async handler({ db, params }, { caller }) {
    await db.workspace(caller.workspaceId, (tx) => removeWebhook(tx, caller.workspaceId, params.id!));
    return empty(204);
  },
});

export const deliveries = page({
  method: 'GET',
  path: '/webhooks/{id}/deliveries',
  owner: true,
  handler: async ({ db, params }, { caller }) =>
    json(200, { items: await db.workspace(caller.workspaceId, (tx) => listDeliveries(tx, caller.workspaceId, params.id!)) }),
});

export const replay = page({
  method: 'POST',
  path: '/deliveries/{id}/replay',
  owner: true,
  async handler({ db, params }, { caller }) {
    await db.workspace(caller.workspaceId, (tx) => replayDelivery(tx, caller.workspaceId, params.id!));
    return empty(202);
  },
});
