import { defineEntity } from '@mikro-orm/core';
import { index, moment, reference, unique } from './columns.ts';
import { ApiKey, Member } from './member.ts';
import { Workspace } from './workspace.ts';

/* Invitations, and identities at sign-in providers. */

export const Invitation = defineEntity({
  name: 'Invitation',
  tableName: 'invitations',
  properties: (p) => ({
    id: p.uuid().primary().defaultRaw('gen_random_uuid()'),
    workspaceId: reference(Workspace, 'workspace_id'),
    memberId: reference(Member, 'member_id'),
    hash: p.blob(),
    invitedBy: reference(Member, 'invited_by', 'set null').nullable(),
    keyId: reference(ApiKey, 'key_id').nullable(),
    createdAt: moment().defaultRaw('now()'),
    expiresAt: moment(),
    acceptedAt: moment().nullable(),
  }),
  indexes: [
    unique('invitations_hash', 'invitations', '(hash)'),
    index('invitations_invited_by', 'invitations', '(invited_by) where (invited_by is not null)'),
    index('invitations_key', 'invitations', '(key_id) where (key_id is not null)'),
    index('invitations_member', 'invitations', '(member_id)'),
    index('invitations_workspace', 'invitations', '(workspace_id, created_at)'),
  ],
});

export const SignInBinding = defineEntity({
  name: 'SignInBinding',
  tableName: 'sign_in_bindings',
  properties: (p) => ({
    memberId: reference(Member, 'member_id').primary(),
    issuer: p.text().primary(),
    workspaceId: reference(Workspace, 'workspace_id'),
    subject: p.text(),
    createdAt: moment().defaultRaw('now()'),
    lastUsedAt: moment().defaultRaw('now()'),
  }),
  indexes: [
    index('sign_in_bindings_subject', 'sign_in_bindings', '(issuer, subject)'),
    index('sign_in_bindings_workspace', 'sign_in_bindings', '(workspace_id)'),
  ],
});
