import { defineEntity } from '@mikro-orm/core';
import { index, moment, reference, serial } from './columns.ts';
import { Workspace } from './workspace.ts';

/* Uploads in progress, idempotency keys, daily counters and rate limits. */

export const IdempotencyKey = defineEntity({
  name: 'IdempotencyKey',
  tableName: 'idempotency_keys',
  properties: (p) => ({
    workspaceId: reference(Workspace, 'workspace_id').primary(),
    key: p.text().primary(),
    transcriptionId: p.uuid(),
    token: p.uuid(),
    nodeId: p.uuid(),
    answer: p.json<unknown>().nullable(),
    leaseUntil: moment().nullable(),
    expiresAt: moment().nullable(),
  }),
  indexes: [
    index('idempotency_keys_expiry', 'idempotency_keys', '(expires_at) where (answer is not null)'),
    index('idempotency_keys_flying', 'idempotency_keys', '(lease_until) where (answer is null)'),
    index('idempotency_transcription', 'idempotency_keys', '(transcription_id)'),
  ],
});

export const UploadLease = defineEntity({
  name: 'UploadLease',
  tableName: 'upload_leases',
  properties: (p) => ({
    id: p.uuid().primary(),
    workspaceId: reference(Workspace, 'workspace_id'),
    keyId: p.uuid().nullable(),
    tokenId: p.uuid().nullable(),
    sessionMemberId: p.uuid().nullable(),
    nodeId: p.uuid(),
    reports: p.integer().default(0),
    leaseUntil: moment(),
    startedAt: moment().defaultRaw('now()'),
    extension: p.text().nullable(),
  }),
  indexes: [
    index('upload_leases_until', 'upload_leases', '(lease_until)'),
    index('upload_leases_workspace', 'upload_leases', '(workspace_id, lease_until)'),
  ],
});

export const Counter = defineEntity({
  name: 'Counter',
  tableName: 'counters',
  properties: (p) => ({
    workspaceId: reference(Workspace, 'workspace_id').primary(),
    name: p.text().primary(),
    day: p.date().primary(),
    count: p.integer().default(0),
  }),
  indexes: [index('counters_day', 'counters', '(day)')],
});

export const Rate = defineEntity({
  name: 'Rate',
  tableName: 'rates',
  properties: (p) => ({
    subject: p.text().primary(),
    tokens: p.double(),
    refilledAt: moment().defaultRaw('now()'),
  }),
  indexes: [index('rates_refilled', 'rates', '(refilled_at)')],
});

export const Deletion = defineEntity({
  name: 'Deletion',
  tableName: 'deletions',
  properties: (p) => ({
    id: serial(),
    subject: p.uuid(),
    at: moment().defaultRaw('now()'),
  }),
  indexes: [index('deletions_at', 'deletions', '(at)'), index('deletions_subject', 'deletions', '(subject, at)')],
});
