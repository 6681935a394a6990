import { defineEntity } from '@mikro-orm/core';
import { index, moment, reference, unique } from './columns.ts';
import { ApiKey, Member } from './member.ts';
import { Workspace } from './workspace.ts';

/* Sessions, and OAuth tokens of assistants. */

export const Session = defineEntity({
  name: 'Session',
  tableName: 'sessions',
  properties: (p) => ({
    hash: p.blob().primary(),
    workspaceId: reference(Workspace, 'workspace_id'),
    memberId: reference(Member, 'member_id'),
    csrf: p.text(),
    keyId: reference(ApiKey, 'key_id').nullable(),
    createdAt: moment().defaultRaw('now()'),
    expiresAt: moment(),
    id: p.uuid().defaultRaw('gen_random_uuid()'),
    vouched: p.boolean().default(true),
  }),
  indexes: [
    unique('sessions_id', 'sessions', '(id)'),
    index('sessions_expiry', 'sessions', '(expires_at)'),
    index('sessions_key', 'sessions', '(key_id) where (key_id is not null)'),
    index('sessions_member', 'sessions', '(member_id)'),
    index('sessions_workspace', 'sessions', '(workspace_id)'),
  ],
});

export const SignInLink = defineEntity({
  name: 'SignInLink',
  tableName: 'sign_in_links',
  properties: (p) => ({
    hash: p.blob().primary(),
    workspaceId: reference(Workspace, 'workspace_id'),
    memberId: reference(Member, 'member_id'),
    expiresAt: moment(),
    usedAt: moment().nullable(),
    keyId: reference(ApiKey, 'key_id').nullable(),
    vouched: p.boolean().default(true),
  }),
  indexes: [
    index('sign_in_links_key', 'sign_in_links', '(key_id) where (key_id is not null)'),
    index('sign_in_links_expiry', 'sign_in_links', '(expires_at)'),
    index('sign_in_links_member', 'sign_in_links', '(member_id)'),
    index('sign_in_links_workspace', 'sign_in_links', '(workspace_id)'),
  ],
});

export const OauthClient = defineEntity({
  name: 'OauthClient',
  tableName: 'oauth_clients',
  properties: (p) => ({
    id: p.text().primary(),
    name: p.text(),
    redirectUris: p.array(),
    secretHash: p.blob().nullable(),
    createdAt: moment().defaultRaw('now()'),
    lastUsedAt: moment().defaultRaw('now()'),
  }),
});

export const OauthCode = defineEntity({
  name: 'OauthCode',
  tableName: 'oauth_codes',
  properties: (p) => ({
    hash: p.blob().primary(),
    clientId: reference(OauthClient, 'client_id'),
    workspaceId: reference(Workspace, 'workspace_id'),
    memberId: reference(Member, 'member_id'),
    scopes: p.array(),
    resource: p.text(),
    redirectUri: p.text(),
    codeChallenge: p.text(),
    expiresAt: moment(),
    usedAt: moment().nullable(),
    keyId: reference(ApiKey, 'key_id').nullable(),
  }),
  indexes: [
    index('oauth_codes_key', 'oauth_codes', '(key_id) where (key_id is not null)'),
    index('oauth_codes_client', 'oauth_codes', '(client_id)'),
    index('oauth_codes_expiry', 'oauth_codes', '(expires_at)'),
    index('oauth_codes_member', 'oauth_codes', '(member_id)'),
    index('oauth_codes_workspace', 'oauth_codes', '(workspace_id)'),
  ],
});

export const OauthToken = defineEntity({
  name: 'OauthToken',
  tableName: 'oauth_tokens',
  properties: (p) => ({
    id: p.uuid().primary().defaultRaw('gen_random_uuid()'),
    hash: p.blob().unique(),
    kind: p.enum(['access', 'refresh']),
    family: p.uuid(),
    clientId: reference(OauthClient, 'client_id').nullable(),
    workspaceId: reference(Workspace, 'workspace_id'),
    memberId: reference(Member, 'member_id'),
    scopes: p.array(),
    resource: p.text().nullable(),
    expiresAt: moment(),
    revokedAt: moment().nullable(),
    createdAt: moment().defaultRaw('now()'),
    keyId: reference(ApiKey, 'key_id').nullable(),
    replacedAt: moment().nullable(),
    predecessorId: p.uuid().nullable(),
  }),
  indexes: [
    index('oauth_tokens_key', 'oauth_tokens', '(key_id) where (key_id is not null)'),
    index('oauth_tokens_client', 'oauth_tokens', '(client_id)'),
    index('oauth_tokens_expiry', 'oauth_tokens', '(expires_at)'),
    index('oauth_tokens_family', 'oauth_tokens', '(family)'),
    index('oauth_tokens_member', 'oauth_tokens', '(member_id)'),
    index('oauth_tokens_workspace', 'oauth_tokens', '(workspace_id)'),
  ],
});
