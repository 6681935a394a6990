import { defineEntity } from '@mikro-orm/core';
import { TEMPLATE_SCOPES } from '../../../api/contract/report.ts';
import { REPORT_STATUSES } from '../../../api/contract/transcription.ts';

/* Report templates of workspaces, reports, and previews of templates. */

export const Template = defineEntity({
  name: 'Template',
  tableName: 'templates',
  properties: (p) => ({
    id: p.uuid().primary().defaultRaw('gen_random_uuid()'),
    workspaceId: p.uuid(),
    ownerId: p.uuid().nullable(),
    scope: p.enum([...TEMPLATE_SCOPES]),
    slug: p.text(),
    name: p.text(),
    description: p.text().nullable(),
    prompt: p.text(),
    status: p.enum(['draft', 'published']).default('published'),
    createdAt: p.datetime().columnType('timestamptz').defaultRaw('now()'),
    updatedAt: p.datetime().columnType('timestamptz').defaultRaw('now()'),
  }),
});

export const Report = defineEntity({
  name: 'Report',
  tableName: 'reports',
  properties: (p) => ({
    id: p.uuid().primary().defaultRaw('gen_random_uuid()'),
    workspaceId: p.uuid(),
    transcriptionId: p.uuid(),
    templateId: p.uuid().nullable(),
    slug: p.text(),
    name: p.text(),
    status: p.enum([...REPORT_STATUSES]),
    errorCode: p.text().nullable(),
    textSealed: p.blob().nullable(),
    leaseToken: p.uuid().nullable(),
    leaseUntil: p.datetime().columnType('timestamptz').nullable(),
    engineId: p.uuid().nullable(),
    attempt: p.integer().default(0),
    deaths: p.integer().default(0),
    runAfter: p.datetime().columnType('timestamptz').defaultRaw('now()'),
    createdAt: p.datetime().columnType('timestamptz').defaultRaw('now()'),
    completedAt: p.datetime().columnType('timestamptz').nullable(),
  }),
});

export const Preview = defineEntity({
  name: 'Preview',
  tableName: 'previews',
  properties: (p) => ({
    id: p.uuid().primary().defaultRaw('gen_random_uuid()'),
    workspaceId: p.uuid(),
    memberId: p.uuid(),
    transcriptionId: p.uuid().nullable(),
    slug: p.text(),
    name: p.text(),
    prompt: p.text().nullable(),
    status: p.enum([...REPORT_STATUSES]).default('queued'),
    errorCode: p.text().nullable(),
    writer: p.text().default(''),
    textSealed: p.blob().nullable(),
    leaseToken: p.uuid().nullable(),
    leaseUntil: p.datetime().columnType('timestamptz').nullable(),
    engineId: p.uuid().nullable(),
    attempt: p.integer().default(0),
    runAfter: p.datetime().columnType('timestamptz').defaultRaw('now()'),
    createdAt: p.datetime().columnType('timestamptz').defaultRaw('now()'),
  }),
});
