import { defineEntity } from '@mikro-orm/core';
import { PLANS } from '../../../api/contract/workspace.ts';
import { EPOCH, index, moment, reference } from './columns.ts';

/* Workspaces, encrypted data keys, and settings of the installation. */

export const Workspace = defineEntity({
  name: 'Workspace',
  tableName: 'workspaces',
  properties: (p) => ({
    id: p.uuid().primary().defaultRaw('gen_random_uuid()'),
    name: p.text(),
    plan: p.enum([...PLANS]).default('api'),
    concurrency: p.integer().default(4),
    balanceMinutes: p.decimal().columnType('numeric').defaultRaw('0'),
    retentionDays: p.integer().nullable(),
    vocabularySealed: p.blob().nullable(),
    servedAt: moment().defaultRaw(EPOCH),
    reportsServedAt: moment().defaultRaw(EPOCH),
    deletedAt: moment().nullable(),
    createdAt: moment().defaultRaw('now()'),
    lowBalanceMinutes: p.decimal().columnType('numeric').defaultRaw('60'),
    lowBalanceToldAt: moment().nullable(),
    keepRecordingsDays: p.integer().default(0),
  }),
  indexes: [index('workspaces_deleted', 'workspaces', '(id) where (deleted_at is not null)')],
  checks: [
    { name: 'workspaces_concurrency_check', expression: 'concurrency >= 1 and concurrency <= 1000' },
    { name: 'workspaces_keep_recordings_days_check', expression: 'keep_recordings_days >= 0 and keep_recordings_days <= 36500' },
  ],
});

export const DataKey = defineEntity({
  name: 'DataKey',
  tableName: 'data_keys',
  properties: (p) => ({
    workspaceId: reference(Workspace, 'workspace_id').primary(),
    version: p.integer().primary(),
    wrapped: p.blob(),
    masterKeyId: p.text(),
    createdAt: moment().defaultRaw('now()'),
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
