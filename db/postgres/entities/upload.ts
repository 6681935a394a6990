import { defineEntity } from '@mikro-orm/core';

/* Uploads in flight, keys of uploads already done, daily counters and rates. */

export const IdempotencyKey = defineEntity({
  name: 'IdempotencyKey',
  tableName: 'idempotency_keys',
  properties: (p) => ({
    workspaceId: p.uuid().primary(),
    key: p.text().primary(),
    transcriptionId: p.uuid(),
    token: p.uuid(),
    nodeId: p.uuid(),
    answer: p.json<unknown>().nullable(),
    leaseUntil: p.datetime().columnType('timestamptz').nullable(),
    expiresAt: p.datetime().columnType('timestamptz').nullable(),
  }),
});

export const UploadLease = defineEntity({
  name: 'UploadLease',
  tableName: 'upload_leases',
  properties: (p) => ({
    id: p.uuid().primary(),
    workspaceId: p.uuid(),
    keyId: p.uuid().nullable(),
    tokenId: p.uuid().nullable(),
    sessionMemberId: p.uuid().nullable(),
    nodeId: p.uuid(),
    reports: p.integer().default(0),
    leaseUntil: p.datetime().columnType('timestamptz'),
    startedAt: p.datetime().columnType('timestamptz').defaultRaw('now()'),
  }),
});

export const Counter = defineEntity({
  name: 'Counter',
  tableName: 'counters',
  properties: (p) => ({
    workspaceId: p.uuid().primary(),
    name: p.text().primary(),
    day: p.date().primary(),
    count: p.integer().default(0),
  }),
});

export const Rate = defineEntity({
  name: 'Rate',
  tableName: 'rates',
  properties: (p) => ({
    subject: p.text().primary(),
    tokens: p.double(),
    refilledAt: p.datetime().columnType('timestamptz').defaultRaw('now()'),
  }),
});

export const Deletion = defineEntity({
  name: 'Deletion',
  tableName: 'deletions',
  properties: (p) => ({
    id: p.bigint().primary().autoincrement(),
    subject: p.uuid(),
    at: p.datetime().columnType('timestamptz').defaultRaw('now()'),
  }),
});
