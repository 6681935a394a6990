import { leadsInside } from '../../db/webhooks/destination.ts';
import {
  changeWebhook,
  createWebhook,
  deleteWebhook,
  findWebhook,
  listWebhooks,
  rotateSecret,
  testWebhook,
} from '../../db/webhooks/endpoints.ts';
import { invalid } from '../contract/errors.ts';
import type { Settings } from '../contract/settings.ts';
import { Webhook, WebhookChange, WebhookCreation, WebhookList, WebhookTest, WebhookWithSecret } from '../contract/webhook.ts';
import { empty, json, route } from '../http/route.ts';
import { TEST_EXAMPLE, WEBHOOK_EXAMPLE, WEBHOOK_SECRET_EXAMPLE } from './examples.ts';

const MANAGE = { scope: 'webhooks:write', scopeError: null } as const;
const TAG = 'Webhooks';
const ID = { id: 'Of the webhook' };

const INSIDE =
  'leads to this machine or to a private network, where deliveries are refused; the operator can allow them with LONGHAND_WEBHOOK_PRIVATE=allow';

/** Throws 422 for a URL to which deliveries would be refused. */
async function checkDestination(settings: Settings, url: string): Promise<void> {
  if (settings.LONGHAND_WEBHOOK_PRIVATE === 'refuse' && (await leadsInside(url))) throw invalid([{ field: 'url', message: INSIDE }]);
}

export const getWebhooks = route({
  method: 'GET',
  path: '/v1/webhooks',
  id: 'listWebhooks',
  summary: 'List webhooks',
  description: 'Oldest first, without secrets.',
  tag: TAG,
  access: MANAGE,
  answers: { 200: { description: 'All webhooks of the workspace', schema: WebhookList, example: { items: [WEBHOOK_EXAMPLE], total: 1 } } },
  errors: [403],
  async handler({ db, caller }) {
    const items = await db.workspace(caller.workspaceId, (tx) => listWebhooks(tx, caller));
    return json(200, { items, total: items.length });
  },
});

export const postWebhook = route({
  method: 'POST',
  path: '/v1/webhooks',
  id: 'createWebhook',
  summary: 'Create a webhook',
  description:
    'From now on, this URL is notified of every final status, at least once, with ids and status but no text. Deliveries are signed according to Standard Webhooks. The secret is returned only in this response. A workspace can have at most 50 webhooks.',
  tag: TAG,
  access: MANAGE,
  body: WebhookCreation,
  answers: { 201: { description: 'Created', schema: WebhookWithSecret, example: WEBHOOK_SECRET_EXAMPLE } },
  errors: [403, 'validation_error'],
  async handler(context) {
    const { db, vault, caller, settings } = context;
    const wanted = await context.body();
    await checkDestination(settings, wanted.url);
    return json(201, await db.workspace(caller.workspaceId, (tx) => createWebhook(tx, vault, caller, wanted)));
  },
});

export const getWebhook = route({
  method: 'GET',
  path: '/v1/webhooks/{id}',
  id: 'getWebhook',
  summary: 'Get one webhook',
  tag: TAG,
  access: MANAGE,
  params: ID,
  answers: { 200: { description: 'Without its secret', schema: Webhook, example: WEBHOOK_EXAMPLE } },
  errors: [403, 404],
  handler: async ({ db, caller, params }) => json(200, await db.workspace(caller.workspaceId, (tx) => findWebhook(tx, caller, params.id!))),
});

export const patchWebhook = route({
  method: 'PATCH',
  path: '/v1/webhooks/{id}',
  id: 'updateWebhook',
  summary: 'Change a webhook',
  description: 'Omitted fields stay unchanged. Pending deliveries are sent to the new URL.',
  tag: TAG,
  access: MANAGE,
  params: ID,
  body: WebhookChange,
  answers: { 200: { description: 'The changed webhook', schema: Webhook, example: WEBHOOK_EXAMPLE } },
  errors: [403, 404, 'validation_error'],
  async handler(context) {
    const { db, caller, params, settings } = context;
    const change = await context.body();
    if (change.url !== undefined) await checkDestination(settings, change.url);
    return json(200, await db.workspace(caller.workspaceId, (tx) => changeWebhook(tx, caller, params.id!, change)));
  },
});

export const removeWebhook = route({
  method: 'DELETE',
  path: '/v1/webhooks/{id}',
  id: 'deleteWebhook',
  summary: 'Delete a webhook',
  description: 'Pending deliveries are discarded.',
  tag: TAG,
  access: MANAGE,
  params: ID,
  answers: { 204: { description: 'Deleted' } },
  errors: [403, 404],
  async handler({ db, caller, params }) {
    await db.workspace(caller.workspaceId, (tx) => deleteWebhook(tx, caller, params.id!));
    return empty(204);
  },
});

export const postSecret = route({
  method: 'POST',
  path: '/v1/webhooks/{id}/secret',
  id: 'rotateWebhookSecret',
  summary: 'Create a new secret',
  description:
    'Deliveries are signed with the new secret from now on. For 24 hours `webhook-signature` also contains a signature with the old one, so that receivers can switch.',
  tag: TAG,
  access: MANAGE,
  params: ID,
  answers: { 200: { description: 'With the new secret, shown once', schema: WebhookWithSecret, example: WEBHOOK_SECRET_EXAMPLE } },
  errors: [403, 404],
  handler: async ({ db, vault, caller, params }) =>
    json(200, await db.workspace(caller.workspaceId, (tx) => rotateSecret(tx, vault, caller, params.id!))),
});

export const postTest = route({
  method: 'POST',
  path: '/v1/webhooks/{id}/test',
  id: 'testWebhook',
  summary: 'Send a test',
  description: 'Sends the event `webhook.test`, signed and retried like any other, even if the webhook does not subscribe to it.',
  tag: TAG,
  access: MANAGE,
  params: ID,
  answers: { 202: { description: 'Queued for delivery', schema: WebhookTest, example: TEST_EXAMPLE } },
  errors: [403, 404],
  handler: async ({ db, caller, params }) => json(202, await db.workspace(caller.workspaceId, (tx) => testWebhook(tx, caller, params.id!))),
});
