import { defineEntity } from '@mikro-orm/core';
import { PROJECT_ROLES, ROLES } from '../../../api/contract/workspace.ts';
import { index, moment, reference, THIS_MILLISECOND, unique } from './columns.ts';
import { Workspace } from './workspace.ts';

/* Access: members, their external identities, API keys and projects. */

export const Member = defineEntity({
  name: 'Member',
  tableName: 'members',
  properties: (p) => ({
    id: p.uuid().primary().defaultRaw('gen_random_uuid()'),
    workspaceId: reference(Workspace, 'workspace_id'),
    email: p.text(),
    name: p.text().nullable(),
    role: p.enum([...ROLES]).default('user'),
    status: p.enum(['active', 'pending', 'removed']).default('active'),
    createdAt: moment().defaultRaw('now()'),
    removedAt: moment().nullable(),
    emailTrusted: p.boolean().default(true),
    emailLower: p.text().generated('(lower(email)) stored').nullable(),
  }),
  indexes: [
    index('members_address', 'members', "(email_lower) where (status = 'active')"),
    unique('members_email', 'members', "(workspace_id, lower(email)) where (status <> 'removed')"),
    index('members_invited', 'members', "(email_lower) where (status = 'pending')"),
    index('members_workspace', 'members', '(workspace_id)'),
  ],
});

export const Identity = defineEntity({
  name: 'Identity',
  tableName: 'identities',
  properties: (p) => ({
    id: p.uuid().primary().defaultRaw('gen_random_uuid()'),
    workspaceId: reference(Workspace, 'workspace_id'),
    memberId: reference(Member, 'member_id'),
    provider: p.text(),
    externalId: p.text(),
    createdAt: moment().defaultRaw('now()'),
  }),
  uniques: [{ name: 'identities_workspace_id_provider_external_id_key', properties: ['workspaceId', 'provider', 'externalId'] }],
  indexes: [index('identities_member', 'identities', '(member_id)')],
});

export const ApiKey = defineEntity({
  name: 'ApiKey',
  tableName: 'api_keys',
  properties: (p) => ({
    id: p.uuid().primary().defaultRaw('gen_random_uuid()'),
    workspaceId: reference(Workspace, 'workspace_id'),
    memberId: reference(Member, 'member_id'),
    hash: p.blob().unique(),
    hint: p.text(),
    name: p.text().nullable(),
    scopes: p.array(),
    expiresAt: moment().nullable(),
    revokedAt: moment().nullable(),
    createdAt: moment().defaultRaw('now()'),
    lastUsedAt: moment().nullable(),
    parentId: p.uuid().nullable(),
    vouched: p.boolean().default(true),
  }),
  indexes: [
    index('api_keys_member', 'api_keys', '(member_id)'),
    index('api_keys_parent', 'api_keys', '(parent_id) where (parent_id is not null)'),
    index('api_keys_workspace', 'api_keys', '(workspace_id)'),
  ],
});

export const Project = defineEntity({
  name: 'Project',
  tableName: 'projects',
  properties: (p) => ({
    id: p.uuid().primary().defaultRaw('gen_random_uuid()'),
    workspaceId: reference(Workspace, 'workspace_id'),
    name: p.text(),
    createdAt: moment().defaultRaw(THIS_MILLISECOND),
  }),
  indexes: [index('projects_workspace', 'projects', '(workspace_id, created_at desc, id)')],
});

export const ProjectMember = defineEntity({
  name: 'ProjectMember',
  tableName: 'project_members',
  properties: (p) => ({
    projectId: reference(Project, 'project_id').primary(),
    memberId: reference(Member, 'member_id').primary(),
    workspaceId: reference(Workspace, 'workspace_id'),
    role: p.enum([...PROJECT_ROLES]),
  }),
  indexes: [
    index('project_members_member', 'project_members', '(member_id)'),
    index('project_members_workspace', 'project_members', '(workspace_id)'),
  ],
});
