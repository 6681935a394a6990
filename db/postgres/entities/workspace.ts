import { defineEntity } from '@mikro-orm/core';
import { PLANS } from '../../../api/contract/workspace.ts';

/* Workspaces, the data keys of the vault, and what the installation remembers. */

export const Workspace = defineEntity({
  name: 'Workspace',
  tableName: 'workspaces',
  properties: (p) => ({
    id: p.uuid().primary().defaultRaw('gen_random_uuid()'),
    name: p.text(),
    plan: p.enum([...PLANS]).default('api'),
    concurrency: p.integer().default(4),
    balanceMinutes: p.decimal().columnType('numeric').default('0'),
    retentionDays: p.integer().nullable(),
    vocabularySealed: p.blob().nullable(),
    servedAt: p.datetime().columnType('timestamptz').defaultRaw("'epoch'"),
    reportsServedAt: p.datetime().columnType('timestamptz').defaultRaw("'epoch'"),
    createdAt: p.datetime().columnType('timestamptz').defaultRaw('now()'),
  }),
});

export const DataKey = defineEntity({
  name: 'DataKey',
  tableName: 'data_keys',
  properties: (p) => ({
    workspaceId: p.uuid().primary(),
    version: p.integer().primary(),
    wrapped: p.blob(),
    masterKeyId: p.text(),
    createdAt: p.datetime().columnType('timestamptz').defaultRaw('now()'),
  }),
});

export const Fact = defineEntity({
  name: 'Fact',
  tableName: 'facts',
  properties: (p) => ({
    name: p.text().primary(),
    value: p.blob(),
  }),
});
