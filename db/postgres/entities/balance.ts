import { defineEntity } from '@mikro-orm/core';

/* Open reservations, and grants and charges. The balance itself is a column of the workspace. */

export const Reservation = defineEntity({
  name: 'Reservation',
  tableName: 'reservations',
  properties: (p) => ({
    transcriptionId: p.uuid().primary(),
    workspaceId: p.uuid(),
    minutes: p.decimal().columnType('numeric'),
    createdAt: p.datetime().columnType('timestamptz').defaultRaw('now()'),
  }),
});

export const LedgerEntry = defineEntity({
  name: 'LedgerEntry',
  tableName: 'ledger',
  properties: (p) => ({
    id: p.bigint().primary().autoincrement(),
    workspaceId: p.uuid(),
    transcriptionId: p.uuid().nullable().unique(),
    minutes: p.decimal().columnType('numeric'),
    createdAt: p.datetime().columnType('timestamptz').defaultRaw('now()'),
  }),
});
