import { defineEntity } from '@mikro-orm/core';
import { PROJECT_ROLES, ROLES } from '../../../api/contract/workspace.ts';

/* Who may do what: members, their identities elsewhere, API keys and projects. */

export const Member = defineEntity({
  name: 'Member',
  tableName: 'members',
  properties: (p) => ({
    id: p.uuid().primary().defaultRaw('gen_random_uuid()'),
    workspaceId: p.uuid(),
    email: p.text(),
    name: p.text().nullable(),
    role: p.enum([...ROLES]).default('user'),
    status: p.enum(['active', 'pending', 'removed']).default('active'),
    createdAt: p.datetime().columnType('timestamptz').defaultRaw('now()'),
    removedAt: p.datetime().columnType('timestamptz').nullable(),
  }),
});

export const Identity = defineEntity({
  name: 'Identity',
  tableName: 'identities',
  properties: (p) => ({
    id: p.uuid().primary().defaultRaw('gen_random_uuid()'),
    workspaceId: p.uuid(),
    memberId: p.uuid(),
    provider: p.text(),
    externalId: p.text(),
    createdAt: p.datetime().columnType('timestamptz').defaultRaw('now()'),
  }),
});

export const ApiKey = defineEntity({
  name: 'ApiKey',
  tableName: 'api_keys',
  properties: (p) => ({
    id: p.uuid().primary().defaultRaw('gen_random_uuid()'),
    workspaceId: p.uuid(),
    memberId: p.uuid(),
    hash: p.blob().unique(),
    hint: p.text(),
    name: p.text().nullable(),
    scopes: p.array(),
    expiresAt: p.datetime().columnType('timestamptz').nullable(),
    revokedAt: p.datetime().columnType('timestamptz').nullable(),
    createdAt: p.datetime().columnType('timestamptz').defaultRaw('now()'),
    lastUsedAt: p.datetime().columnType('timestamptz').nullable(),
  }),
});

export const Project = defineEntity({
  name: 'Project',
  tableName: 'projects',
  properties: (p) => ({
    id: p.uuid().primary().defaultRaw('gen_random_uuid()'),
    workspaceId: p.uuid(),
    name: p.text(),
    createdAt: p.datetime().columnType('timestamptz').defaultRaw('now()'),
  }),
});

export const ProjectMember = defineEntity({
  name: 'ProjectMember',
  tableName: 'project_members',
  properties: (p) => ({
    projectId: p.uuid().primary(),
    memberId: p.uuid().primary(),
    workspaceId: p.uuid(),
    role: p.enum([...PROJECT_ROLES]),
  }),
});
