import { defineEntity } from '@mikro-orm/core';
import { PLANS } from '../../api/contract/workspace.ts';

export const Workspace = defineEntity({
  name: 'Workspace',
  tableName: 'workspaces',
  properties: (p) => ({
    id: p.uuid().primary().defaultRaw('gen_random_uuid()'),
    name: p.text(),
    plan: p.enum([...PLANS]).default('api'),
    concurrency: p.integer().default(4),
    balanceMinutes: p.decimal().default('0'),
    retentionDays: p.integer().nullable(),
    vocabularySealed: p.blob().nullable(),
    servedAt: p.datetime().defaultRaw("'epoch'"),
    createdAt: p.datetime().defaultRaw('now()'),
  }),
});
