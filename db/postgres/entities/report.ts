import { defineEntity } from '@mikro-orm/core';
import { TEMPLATE_SCOPES } from '../../../api/contract/report.ts';
import { REPORT_STATUSES } from '../../../api/contract/transcription.ts';
import { index, moment, reference, unique } from './columns.ts';
import { Member } from './member.ts';
import { Transcription } from './transcription.ts';
import { Workspace } from './workspace.ts';

/* Report templates, reports, and previews of templates. */

export const Template = defineEntity({
  name: 'Template',
  tableName: 'templates',
  properties: (p) => ({
    id: p.uuid().primary().defaultRaw('gen_random_uuid()'),
    workspaceId: reference(Workspace, 'workspace_id'),
    ownerId: reference(Member, 'owner_id').nullable(),
    scope: p.enum([...TEMPLATE_SCOPES]),
    slug: p.text(),
    name: p.text(),
    description: p.text().nullable(),
    prompt: p.text(),
    status: p.enum(['draft', 'published']).default('published'),
    createdAt: moment().defaultRaw('now()'),
    updatedAt: moment().defaultRaw('now()'),
  }),
  checks: [
    { name: 'templates_check', expression: "(scope = 'personal') = (owner_id is not null)" },
    { name: 'templates_slug_check', expression: "slug ~ '^[a-z0-9]+(-[a-z0-9]+)*$' and length(slug) <= 64" },
  ],
  indexes: [
    index('templates_owner', 'templates', '(owner_id) where (owner_id is not null)'),
    unique('templates_personal_slug', 'templates', "(workspace_id, owner_id, slug) where (scope = 'personal')"),
    index('templates_workspace', 'templates', '(workspace_id)'),
    unique('templates_workspace_slug', 'templates', "(workspace_id, slug) where (scope = 'workspace')"),
  ],
});

export const Report = defineEntity({
  name: 'Report',
  tableName: 'reports',
  properties: (p) => ({
    id: p.uuid().primary().defaultRaw('gen_random_uuid()'),
    workspaceId: reference(Workspace, 'workspace_id'),
    transcriptionId: reference(Transcription, 'transcription_id'),
    templateId: reference(Template, 'template_id', 'set null').nullable(),
    slug: p.text(),
    name: p.text(),
    status: p.enum([...REPORT_STATUSES]),
    errorCode: p.text().nullable(),
    textSealed: p.blob().nullable(),
    leaseToken: p.uuid().nullable(),
    leaseUntil: moment().nullable(),
    engineId: p.uuid().nullable(),
    attempt: p.integer().default(0),
    deaths: p.integer().default(0),
    runAfter: moment().defaultRaw('now()'),
    createdAt: moment().defaultRaw('now()'),
    completedAt: moment().nullable(),
    replacedBy: p.uuid().nullable(),
    writer: p.enum(['model', 'extractive']).nullable(),
  }),
  indexes: [
    index('reports_lease', 'reports', '(lease_until) where (lease_token is not null)'),
    unique(
      'reports_live',
      'reports',
      "(transcription_id, slug) where ((status in ('queued', 'processing', 'completed')) and (replaced_by is null))",
    ),
    index('reports_replaced', 'reports', '(replaced_by) where (replaced_by is not null)'),
    index('reports_open', 'reports', "(workspace_id, created_at) where (status in ('queued', 'processing'))"),
    index('reports_template', 'reports', '(template_id) where (template_id is not null)'),
    index('reports_transcription', 'reports', '(transcription_id, created_at, id)'),
    index('reports_waiting', 'reports', "(created_at, id) where ((status in ('queued', 'processing')) and (lease_token is null))"),
    index('reports_workspace', 'reports', '(workspace_id)'),
  ],
});

export const Preview = defineEntity({
  name: 'Preview',
  tableName: 'previews',
  properties: (p) => ({
    id: p.uuid().primary().defaultRaw('gen_random_uuid()'),
    workspaceId: reference(Workspace, 'workspace_id'),
    memberId: reference(Member, 'member_id').unique(),
    transcriptionId: reference(Transcription, 'transcription_id').nullable(),
    slug: p.text(),
    name: p.text(),
    prompt: p.text().nullable(),
    status: p.enum([...REPORT_STATUSES]).default('queued'),
    errorCode: p.text().nullable(),
    writer: p.text().default(''),
    textSealed: p.blob().nullable(),
    leaseToken: p.uuid().nullable(),
    leaseUntil: moment().nullable(),
    engineId: p.uuid().nullable(),
    attempt: p.integer().default(0),
    runAfter: moment().defaultRaw('now()'),
    createdAt: moment().defaultRaw('now()'),
  }),
  indexes: [
    index('previews_created', 'previews', '(created_at)'),
    index('previews_transcription', 'previews', '(transcription_id) where (transcription_id is not null)'),
    index('previews_workspace', 'previews', '(workspace_id)'),
  ],
});

/** Requests of engines to couriers for title, summary, topics and speaker names. */
export const Layer = defineEntity({
  name: 'Layer',
  tableName: 'layers',
  properties: (p) => ({
    transcriptionId: reference(Transcription, 'transcription_id').primary(),
    workspaceId: reference(Workspace, 'workspace_id'),
    token: p.uuid().defaultRaw('gen_random_uuid()'),
    sourceSealed: p.blob(),
    resultSealed: p.blob().nullable(),
    status: p.enum([...REPORT_STATUSES]).default('queued'),
    createdAt: moment().defaultRaw('now()'),
  }),
  indexes: [
    index('layers_waiting', 'layers', "(created_at) where (status = 'queued')"),
    index('layers_workspace', 'layers', '(workspace_id)'),
  ],
});
