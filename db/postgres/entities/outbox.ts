import { defineEntity } from '@mikro-orm/core';
import { index, moment, reference, serial } from './columns.ts';
import { Transcription } from './transcription.ts';
import { Workspace } from './workspace.ts';

/* Notifications and webhook deliveries. */

export const Notification = defineEntity({
  name: 'Notification',
  tableName: 'notifications',
  properties: (p) => ({
    id: serial(),
    workspaceId: reference(Workspace, 'workspace_id'),
    memberId: p.uuid(),
    transcriptionId: reference(Transcription, 'transcription_id').nullable(),
    createdAt: moment().defaultRaw('now()'),
    readAt: moment().nullable(),
    kind: p.enum(['ready', 'low_balance']).default('ready'),
    minutes: p.decimal().columnType('numeric').nullable(),
  }),
  checks: [{ name: 'notifications_check', expression: "(kind = 'ready') = (transcription_id is not null)" }],
  indexes: [
    index('notifications_created', 'notifications', '(created_at)'),
    index('notifications_member', 'notifications', '(member_id, created_at desc)'),
    index('notifications_transcription', 'notifications', '(transcription_id)'),
    index('notifications_workspace', 'notifications', '(workspace_id)'),
  ],
});

export const Webhook = defineEntity({
  name: 'Webhook',
  tableName: 'webhooks',
  properties: (p) => ({
    id: p.uuid().primary().defaultRaw('gen_random_uuid()'),
    workspaceId: reference(Workspace, 'workspace_id'),
    url: p.text(),
    secretSealed: p.blob(),
    active: p.boolean().default(true),
    createdAt: moment().defaultRaw('now()'),
    events: p.array().nullable(),
    formerSecretSealed: p.blob().nullable(),
    formerUntil: moment().nullable(),
  }),
  indexes: [index('webhooks_workspace', 'webhooks', '(workspace_id, created_at)')],
});

export const Delivery = defineEntity({
  name: 'Delivery',
  tableName: 'deliveries',
  properties: (p) => ({
    id: p.uuid().primary().defaultRaw('gen_random_uuid()'),
    workspaceId: reference(Workspace, 'workspace_id'),
    webhookId: reference(Webhook, 'webhook_id'),
    event: p.text(),
    body: p.json<unknown>(),
    status: p.enum(['pending', 'delivered', 'dead']).default('pending'),
    attempt: p.integer().default(0),
    nextAt: moment().defaultRaw('now()'),
    lastStatus: p.integer().nullable(),
    lastError: p.text().nullable(),
    createdAt: moment().defaultRaw('now()'),
    deliveredAt: moment().nullable(),
  }),
  indexes: [
    index('deliveries_created', 'deliveries', '(created_at)'),
    index('deliveries_due', 'deliveries', "(next_at) where (status = 'pending')"),
    index('deliveries_turn', 'deliveries', "(webhook_id, next_at) where (status = 'pending')"),
    index('deliveries_webhook', 'deliveries', '(webhook_id, created_at desc)'),
    index('deliveries_workspace', 'deliveries', '(workspace_id)'),
  ],
});
