import { defineEntity } from '@mikro-orm/core';

/* Signed-in people and the tokens of assistants. */

export const Session = defineEntity({
  name: 'Session',
  tableName: 'sessions',
  properties: (p) => ({
    hash: p.blob().primary(),
    workspaceId: p.uuid(),
    memberId: p.uuid(),
    csrf: p.text(),
    keyId: p.uuid().nullable(),
    createdAt: p.datetime().columnType('timestamptz').defaultRaw('now()'),
    expiresAt: p.datetime().columnType('timestamptz'),
  }),
});

export const SignInLink = defineEntity({
  name: 'SignInLink',
  tableName: 'sign_in_links',
  properties: (p) => ({
    hash: p.blob().primary(),
    workspaceId: p.uuid(),
    memberId: p.uuid(),
    expiresAt: p.datetime().columnType('timestamptz'),
    usedAt: p.datetime().columnType('timestamptz').nullable(),
  }),
});

export const OauthClient = defineEntity({
  name: 'OauthClient',
  tableName: 'oauth_clients',
  properties: (p) => ({
    id: p.text().primary(),
    name: p.text(),
    redirectUris: p.array(),
    secretHash: p.blob().nullable(),
    createdAt: p.datetime().columnType('timestamptz').defaultRaw('now()'),
  }),
});

export const OauthCode = defineEntity({
  name: 'OauthCode',
  tableName: 'oauth_codes',
  properties: (p) => ({
    hash: p.blob().primary(),
    clientId: p.text(),
    workspaceId: p.uuid(),
    memberId: p.uuid(),
    scopes: p.array(),
    resource: p.text(),
    redirectUri: p.text(),
    codeChallenge: p.text(),
    expiresAt: p.datetime().columnType('timestamptz'),
    usedAt: p.datetime().columnType('timestamptz').nullable(),
  }),
});

export const OauthToken = defineEntity({
  name: 'OauthToken',
  tableName: 'oauth_tokens',
  properties: (p) => ({
    id: p.uuid().primary().defaultRaw('gen_random_uuid()'),
    hash: p.blob().unique(),
    kind: p.enum(['access', 'refresh']),
    family: p.uuid(),
    clientId: p.text().nullable(),
    workspaceId: p.uuid(),
    memberId: p.uuid(),
    scopes: p.array(),
    resource: p.text().nullable(),
    expiresAt: p.datetime().columnType('timestamptz'),
    revokedAt: p.datetime().columnType('timestamptz').nullable(),
    createdAt: p.datetime().columnType('timestamptz').defaultRaw('now()'),
  }),
});
