import { defineEntity } from '@mikro-orm/core';
import { EPOCH, index, moment, reference } from './columns.ts';
import { Workspace } from './workspace.ts';

/* Turns and leases: narrow tables, because they change constantly (db/jobs). */

export const Lease = defineEntity({
  name: 'Lease',
  tableName: 'leases',
  properties: (p) => ({
    token: p.uuid().primary(),
    kind: p.enum(['transcriptions', 'reports', 'previews']),
    subject: p.uuid(),
    workspaceId: reference(Workspace, 'workspace_id'),
    engineId: p.uuid(),
    until: moment(),
    stage: p.text().nullable(),
    fraction: p.float().default(0),
  }),
  indexes: [index('leases_subject', 'leases', '(subject)'), index('leases_workspace', 'leases', '(workspace_id)')],
});

export const Turn = defineEntity({
  name: 'Turn',
  tableName: 'turns',
  properties: (p) => ({
    workspaceId: reference(Workspace, 'workspace_id').primary(),
    lane: p.enum(['probe', 'short', 'long']).primary(),
    servedAt: moment().defaultRaw(EPOCH),
    dueAt: moment().defaultRaw('now()'),
    busy: p.boolean().default(false),
  }),
  indexes: [
    index('turns_probe', 'turns', "(served_at, workspace_id) where (lane = 'probe')"),
    index('turns_ready', 'turns', "(served_at, workspace_id) where ((lane <> 'probe') and (NOT busy))"),
  ],
});

export const ReportTurn = defineEntity({
  name: 'ReportTurn',
  tableName: 'report_turns',
  properties: () => ({
    workspaceId: reference(Workspace, 'workspace_id').primary(),
    servedAt: moment().defaultRaw(EPOCH),
    dueAt: moment().defaultRaw('now()'),
  }),
  indexes: [index('report_turns_ready', 'report_turns', "(served_at, workspace_id) where (due_at < 'infinity'::timestamp with time zone)")],
});

export const SpoolOrphan = defineEntity({
  name: 'SpoolOrphan',
  tableName: 'spool_orphans',
  properties: (p) => ({
    name: p.text().primary(),
    seenAt: moment().defaultRaw('now()'),
    lookedAt: moment().defaultRaw('now()'),
  }),
  indexes: [index('spool_orphans_seen', 'spool_orphans', '(seen_at)')],
});

export const FleetTaskRow = defineEntity({
  name: 'FleetTaskRow',
  tableName: 'fleet_tasks',
  properties: (p) => ({
    name: p.text().primary(),
    dueAt: moment().defaultRaw('now()'),
  }),
});
