import { defineEntity } from '@mikro-orm/core';

/* What is told to people and to webhooks. */

export const Notification = defineEntity({
  name: 'Notification',
  tableName: 'notifications',
  properties: (p) => ({
    id: p.bigint().primary().autoincrement(),
    workspaceId: p.uuid(),
    memberId: p.uuid(),
    transcriptionId: p.uuid(),
    createdAt: p.datetime().columnType('timestamptz').defaultRaw('now()'),
    readAt: p.datetime().columnType('timestamptz').nullable(),
  }),
});

export const Webhook = defineEntity({
  name: 'Webhook',
  tableName: 'webhooks',
  properties: (p) => ({
    id: p.uuid().primary().defaultRaw('gen_random_uuid()'),
    workspaceId: p.uuid(),
    url: p.text(),
    secretSealed: p.blob(),
    active: p.boolean().default(true),
    createdAt: p.datetime().columnType('timestamptz').defaultRaw('now()'),
  }),
});

export const Delivery = defineEntity({
  name: 'Delivery',
  tableName: 'deliveries',
  properties: (p) => ({
    id: p.uuid().primary().defaultRaw('gen_random_uuid()'),
    workspaceId: p.uuid(),
    webhookId: p.uuid(),
    event: p.text(),
    body: p.json<unknown>(),
    status: p.enum(['pending', 'delivered', 'dead']).default('pending'),
    attempt: p.integer().default(0),
    nextAt: p.datetime().columnType('timestamptz').defaultRaw('now()'),
    lastStatus: p.integer().nullable(),
    lastError: p.text().nullable(),
    createdAt: p.datetime().columnType('timestamptz').defaultRaw('now()'),
    deliveredAt: p.datetime().columnType('timestamptz').nullable(),
  }),
});
