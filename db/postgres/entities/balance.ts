import { defineEntity } from '@mikro-orm/core';
import { index, moment, reference, serial } from './columns.ts';
import { Transcription } from './transcription.ts';
import { Workspace } from './workspace.ts';

/* Open reservations; grants and charges. The balance itself is a column of the workspace. */

export const Reservation = defineEntity({
  name: 'Reservation',
  tableName: 'reservations',
  properties: (p) => ({
    transcriptionId: reference(Transcription, 'transcription_id').primary(),
    workspaceId: reference(Workspace, 'workspace_id'),
    minutes: p.decimal().columnType('numeric'),
    createdAt: moment().defaultRaw('now()'),
  }),
  indexes: [index('reservations_workspace', 'reservations', '(workspace_id)')],
});

export const LedgerEntry = defineEntity({
  name: 'LedgerEntry',
  tableName: 'ledger',
  properties: (p) => ({
    id: serial(),
    workspaceId: reference(Workspace, 'workspace_id'),
    transcriptionId: p.uuid().nullable().unique(),
    minutes: p.decimal().columnType('numeric'),
    createdAt: moment().defaultRaw('now()'),
    keyId: p.uuid().nullable(),
    projectId: p.uuid().nullable(),
  }),
  indexes: [index('ledger_workspace', 'ledger', '(workspace_id, created_at)')],
});
